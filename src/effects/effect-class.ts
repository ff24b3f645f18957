/** May an effect run again if its process died under it? */
export const EffectClass = {
  /** May run again. */
  Pure: 'pure',
  /** May run again with the same idempotency key. */
  Idempotent: 'idempotent',
  /** Never runs again; an interrupted one is `unknown`. */
  Once: 'once',
} as const;
export type EffectClass = (typeof EffectClass)[keyof typeof EffectClass];
