import { LimitKind } from '../continuation-evaluation.ts';
import type { Findings } from '../findings.ts';
import type { LimitOptions, LimitReading, LimitText } from './limit.ts';
import { assertCount, assertLimit, LimitCriterion, toTenths } from './limit.ts';

/**
 * Forbids once the run has taken its time: the time on the wall clock since it began in this process, without the waits before that.
 * `startedAt` reads when the run began, in milliseconds;
 * undefined before it did. The time of judging is among the findings.
 */
export class ExecutionTimeLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Wall;
  readonly maxSeconds: number;
  readonly #startedAt: (state: State) => number | undefined;

  constructor(maxSeconds: number, startedAt: (state: State) => number | undefined, options: LimitOptions<State> = {}) {
    super('ExecutionTimeLimit', options);
    this.maxSeconds = assertLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#startedAt = startedAt;
  }

  remainingMs(state: State, findings: Findings = {}): number {
    return this.raise(this.maxSeconds, state) * 1000 - this.#getElapsedMs(state, findings);
  }

  protected override read(state: State, findings: Findings): LimitReading {
    return { used: this.#getElapsedMs(state, findings) / 1000, max: this.raise(this.maxSeconds, state) };
  }

  protected override describe({ used: elapsedSeconds, max: maxSeconds }: LimitReading): LimitText {
    const reason = `${toTenths(elapsedSeconds)} s of ${maxSeconds} s of run time used`;
    return { reason, context: { elapsedSeconds, maxSeconds } };
  }

  #getElapsedMs(state: State, { now }: Findings): number {
    const startedAt = this.#startedAt(state);
    return startedAt === undefined || now === undefined ? 0 : assertCount('the wall clock', Math.max(0, now - startedAt));
  }
}
