import type { ErrorType, Failure } from '../errors/index.ts';

/** What becomes of an effect when its process dies under it. */
export type EffectClass =
  /** May run again. */
  | 'pure'
  /** May run again with the same key. */
  | 'idempotent'
  /** Never runs again; an interrupted one is `unknown`. */
  | 'once';

/** What an effect may say about itself. */
export interface EffectOptions {
  /** @default 'once' */
  readonly effect?: EffectClass;
  readonly timeoutMs?: number;
  /** What it is called where people read of it. @default its key */
  readonly label?: string;
  /** What becomes of a value that comes too late; work that answers its signal with a value is not worth a word. @default 'report' */
  readonly late?: 'report' | 'drop';
  /** The kind of failure to assume where the error does not say. @default 'unknown' */
  readonly failsAs?: ErrorType;
}

/** An effect that did not give a value. Plain data: it is journaled. */
export interface EffectFailure extends Failure {
  readonly ok: false;
  readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown';
}

/** What becomes of an effect that is cut off, or never begins. */
export const cancelled = (): EffectFailure => ({
  ok: false,
  kind: 'cancelled',
  type: 'unknown',
  code: 'cancelled',
  message: 'The run was interrupted.',
  retryable: false,
});

/** What is wrong, without how the effect came to it: ready to stand on a step. */
export function failureOf({ ok: _, kind: __, ...failure }: EffectFailure): Failure {
  return failure;
}

export type EffectResult<Value> = { readonly ok: true; readonly value: Value } | EffectFailure;

/**
 * The one door for side effects. Keys are stable within an execution ("model/3", "tool/3/0"), so that an engine can journal
 * each effect and give its result again. An effect never throws; what it returns is canonical, so that a first run and a
 * replay go on with the same value.
 */
export interface Effects {
  run<Value>(key: string, work: (signal: AbortSignal) => Value | Promise<Value>, options?: EffectOptions): Promise<EffectResult<Value>>;
  /** Waits. Ends early, with `cancelled`, when the run is interrupted or asked to stop. */
  sleep(key: string, ms: number): Promise<EffectResult<null>>;
}
