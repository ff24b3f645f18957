// Effects in this process: each call goes straight through.
// E1. Never throws or rejects: what goes wrong comes back as a failure with its kind.
// E2. Settles at once when the run is interrupted or its time is up, whatever the work does.
// E3. A value that comes after that is dropped, and reported.
// E4. A value is canonical, or the call fails.
import type { ErrorType, Failure } from '../errors/index.ts';
import { classifyError, TimedOutError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely } from '../events/index.ts';
import type { Clock } from '../lib/index.ts';
import { toCanonical } from '../lib/index.ts';
import type { EffectFailure, EffectResult, Effects } from './effects.ts';
import { cancelled } from './effects.ts';
import { LateResultError } from './late-result-error.ts';
import type { RunControl } from './run-control.ts';
import { UnencodableValueError } from './unencodable-value-error.ts';

interface DirectEffectsOptions {
  readonly clock: Clock;
  readonly control: RunControl;
  readonly onProblem: ProblemReporter;
}

const failed = (kind: EffectFailure['kind'], failure: Failure): EffectFailure => ({ ok: false, kind, ...failure });

function failureOf(error: unknown, failsAs: ErrorType | undefined): EffectFailure {
  const failure = classifyError(error, failsAs === undefined ? {} : { fallback: failsAs });
  return failed(failure.type === 'timeout' ? 'timeout' : 'error', failure);
}

function valueOf<Value>(value: Value, failsAs: ErrorType | undefined): EffectResult<Value> {
  const canonical = toCanonical(value);
  // Holds because a canonical value is the same data in its JSON form.
  if (canonical.ok) return { ok: true, value: canonical.value as Value };
  return failureOf(new UnencodableValueError(canonical.path, canonical.problem), failsAs);
}

export function createDirectEffects({ clock, control, onProblem }: DirectEffectsOptions): Effects {
  return {
    run: (key, work, { timeoutMs, failsAs, late = 'report', label = key } = {}) =>
      new Promise((resolve) => {
        if (control.interruption !== undefined) {
          resolve(cancelled());
          return;
        }
        const own = timeoutMs === undefined ? undefined : new AbortController();
        let open = true;
        const settle = (result: EffectResult<never> | EffectResult<Awaited<ReturnType<typeof work>>>): void => {
          if (!open) {
            if (result.ok && late === 'report') reportSafely(onProblem, new LateResultError(label), `effect ${key}`);
            return;
          }
          open = false;
          leave();
          cancelTimer?.();
          resolve(result);
        };
        const leave = control.onInterrupt(() => {
          own?.abort(control.signal.reason);
          settle(cancelled());
        });
        const cancelTimer =
          timeoutMs === undefined
            ? undefined
            : clock.schedule(timeoutMs, () => {
                const error = new TimedOutError(`${label} took longer than ${timeoutMs} ms.`);
                own?.abort(error);
                settle(failureOf(error, failsAs));
              });
        const fail = (error: unknown): void => {
          settle(failureOf(error, failsAs));
        };
        try {
          Promise.resolve(work(own?.signal ?? control.signal)).then((value) => {
            settle(valueOf(value, failsAs));
          }, fail);
        } catch (error) {
          fail(error);
        }
      }),
    sleep: (_key, ms) =>
      new Promise((resolve) => {
        const cancelTimer = clock.schedule(ms, () => {
          leave();
          resolve({ ok: true, value: null });
        });
        const leave = control.onEnding(() => {
          cancelTimer();
          resolve(cancelled());
        });
      }),
  };
}
