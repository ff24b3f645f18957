/** Rule for an effect whose process died: may it run again? */
export const EffectClass = {
  /** May run again. */
  Pure: 'pure',
  /** May run again with the same idempotency key. */
  Idempotent: 'idempotent',
  /** Never runs again; an interrupted one is `unknown`. */
  Once: 'once',
} as const;
export type EffectClass = (typeof EffectClass)[keyof typeof EffectClass];
