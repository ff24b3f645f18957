import type { ErrorType, Failure } from '../errors/index.ts';
import type { ToolEffect } from './tool.ts';

/** What a call's work says about itself. */
export interface EffectRunnerOptions {
  readonly effect?: ToolEffect;
  readonly timeoutMs?: number;
  readonly failsAs?: ErrorType;
}

/** What came of the work: its value, or plain data on why there is none. */
export type EffectOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | (Failure & { readonly ok: false; readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown' });

/**
 * Carries out work under a stable key. The `run` of the loop's Effects port is one: it never rejects for what the work does,
 * settles at once when the run is interrupted or the time is up, and gives canonical values only.
 */
export type EffectRunner = <Value>(
  key: string,
  work: (signal: AbortSignal) => Value | Promise<Value>,
  options?: EffectRunnerOptions,
) => Promise<EffectOutcome<Value>>;
