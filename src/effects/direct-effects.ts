// Effects in this process: each call goes straight through.
// E1. Never throws or rejects: what goes wrong is returned as a failure with its kind.
// E2. Settles at once when the run is interrupted or the time is up, whatever the work does.
// E3. A value that comes after that is dropped, and reported.
// E4. A value is canonical, or the call fails.
import type { ErrorType } from '../errors/index.ts';
import { classifyError, TimedOutError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely } from '../events/index.ts';
import type { Clock } from '../lib/index.ts';
import { toCanonical } from '../lib/index.ts';
import type { EffectControl } from './effect-control.ts';
import type { EffectFailure, EffectOptions, EffectResult, Effects } from './effects.ts';
import { createCancelledEffect } from './effects.ts';
import { LateResultError } from './late-result-error.ts';
import { UnencodableValueError } from './unencodable-value-error.ts';

interface DirectEffectsOptions {
  readonly clock: Clock;
  readonly control: EffectControl;
  readonly onProblem: ProblemReporter;
}

function toEffectFailure(error: unknown, failsAs: ErrorType | undefined): EffectFailure {
  const failure = classifyError(error, failsAs === undefined ? {} : { fallback: failsAs });
  return { ok: false, kind: failure.type === 'timeout' ? 'timeout' : 'error', ...failure };
}

function toResult<Value>(value: Value, failsAs: ErrorType | undefined): EffectResult<Value> {
  const canonical = toCanonical(value);
  // Holds because a canonical value is the same data in its JSON form.
  if (canonical.ok) return { ok: true, value: canonical.value as Value };
  return toEffectFailure(new UnencodableValueError(canonical.path, canonical.problem, canonical), failsAs);
}

export function createDirectEffects({ clock, control, onProblem }: DirectEffectsOptions): Effects {
  const run = <Value>(
    key: string,
    work: (signal: AbortSignal) => Value | Promise<Value>,
    { timeoutMs, failsAs, late = 'report', label = key }: EffectOptions = {},
  ): Promise<EffectResult<Value>> => {
    if (control.interruption !== undefined) return Promise.resolve(createCancelledEffect());
    const own = timeoutMs === undefined ? undefined : new AbortController();
    let resolve: ((result: EffectResult<Value>) => void) | undefined;
    const result = new Promise<EffectResult<Value>>((settled) => {
      resolve = settled;
    });
    const settle = (ended: EffectResult<Value>): void => {
      if (resolve === undefined) {
        if (ended.ok && late === 'report') reportSafely(onProblem, new LateResultError(label), `effect ${key}`);
        return;
      }
      unsubscribe();
      cancelTimer?.();
      resolve(ended);
      resolve = undefined;
    };
    const fail = (error: unknown): void => settle(toEffectFailure(error, failsAs));
    const unsubscribe = control.onInterrupt(() => {
      own?.abort(control.signal.reason);
      settle(createCancelledEffect());
    });
    const cancelTimer =
      timeoutMs === undefined
        ? undefined
        : clock.schedule(timeoutMs, () => {
            const error = new TimedOutError(`${label} took longer than ${timeoutMs} ms.`);
            own?.abort(error);
            fail(error);
          });
    try {
      Promise.resolve(work(own?.signal ?? control.signal)).then((value) => settle(toResult(value, failsAs)), fail);
    } catch (error) {
      fail(error);
    }
    return result;
  };
  return {
    run,
    sleep: (_key, ms) =>
      new Promise((resolve) => {
        const cancelTimer = clock.schedule(ms, () => {
          unsubscribe();
          resolve({ ok: true, value: null });
        });
        const unsubscribe = control.onEnding(() => {
          cancelTimer();
          resolve(createCancelledEffect());
        });
      }),
  };
}
