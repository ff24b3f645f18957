import type { ErrorType, Failure } from '../errors/index.ts';
import type { EffectClass } from './effect-class.ts';

/** Facts about an effect that an engine needs to run it. */
export interface EffectOptions {
  /** @default 'once' */
  readonly effect?: EffectClass;
  readonly timeoutMs?: number | undefined;
  /** Name of the effect in messages that people read. @default its key */
  readonly label?: string;
  /** `drop` if a value that comes too late needs no report: the work answers its signal with a value. @default 'report' */
  readonly late?: 'report' | 'drop';
  /** Error type of a failure whose error does not say. @default 'unknown' */
  readonly failsAs?: ErrorType;
}

/** An effect without a value. Plain data: it is journaled. */
export interface EffectFailure extends Failure {
  readonly ok: false;
  readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown';
}

export type EffectResult<Value> = { readonly ok: true; readonly value: Value } | EffectFailure;

/** An engine's answer to a sleep: leave the run as it is now, and enter it again in `resumeAfterMs`. */
export interface LeaveRequest {
  readonly ok: false;
  readonly kind: 'leave';
  readonly resumeAfterMs: number;
}

export type SleepResult = EffectResult<null> | LeaveRequest;

export interface SleepOptions {
  /** True if the sleeper can be left and entered again later, as a run can between two steps. @default false */
  readonly mayLeave?: boolean;
}

/**
 * The port for all side effects. Keys are stable within an execution ("model/3", "tool/3/0"), so an engine can journal each effect and
 * return its result again. An effect never throws; its value is canonical, so a first run and a replay continue with the same value.
 */
export interface Effects {
  run<Value>(key: string, work: (signal: AbortSignal) => Value | Promise<Value>, options?: EffectOptions): Promise<EffectResult<Value>>;
  /**
   * Waits. Ends early, with `cancelled`, when the run is interrupted or asked to stop. An engine may answer with a LeaveRequest if the
   * options allow it.
   */
  sleep(key: string, ms: number, options?: SleepOptions): Promise<SleepResult>;
  /**
   * Returns what an earlier process left of the open step under a key, unless it was given again since; undefined if there is nothing. It
   * starts nothing. Work that had begun there, or under longer keys that continue this one with a slash, has an unknown end. Engines
   * without a journal have no such function.
   */
  recall?(key: string): EffectResult<unknown> | undefined;
}

/** Result of an effect that was interrupted, or never started because the run was. */
export const createCancelledEffect = (): EffectFailure => ({
  ok: false,
  kind: 'cancelled',
  type: 'unknown',
  code: 'cancelled',
  message: 'The run was interrupted.',
  retryable: false,
});

/** The failure alone, ready to be recorded on a step. */
export function toFailure({ ok: _, kind: __, ...failure }: EffectFailure): Failure {
  return failure;
}

/** The same effects, with a prefix before each key. */
export function withKeyPrefix(effects: Effects, prefix: string): Effects {
  return {
    run: (key, work, options) => effects.run(`${prefix}/${key}`, work, options),
    sleep: (key, ms) => effects.sleep(`${prefix}/${key}`, ms),
    recall: (key) => effects.recall?.(`${prefix}/${key}`),
  };
}
