import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import type { LimitOptions } from './limit.ts';
import { checkedCount, checkedLimit, LimitCriterion, tenths } from './limit.ts';

/** How to read the wall clock from a state, in milliseconds. */
export interface WallClockReader<State> {
  /** When this run began; undefined before it did. A new input and a resume begin anew. */
  readonly startedAt: (state: State) => number | undefined;
  /** The time that the loop left on the state for judging. */
  readonly now: (state: State) => number | undefined;
}

/** Forbids when the run has lasted as long as it may, by the clock on the wall. */
export class ExecutionTimeLimit<State> extends LimitCriterion<State> {
  override readonly name = 'ExecutionTimeLimit';
  protected override readonly stopReason: StopReason = StopReason.TimeLimitReached;
  protected override readonly limit: LimitKind = LimitKind.Wall;
  readonly maxSeconds: number;
  readonly #read: WallClockReader<State>;

  constructor(maxSeconds: number, read: WallClockReader<State>, options: LimitOptions<State> = {}) {
    super(options);
    this.maxSeconds = checkedLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#read = read;
  }

  remainingMs(state: State): number {
    return this.raised(this.maxSeconds, state) * 1000 - this.#elapsedMs(state);
  }

  override explain(state: State): ContinuationEvaluation {
    const elapsedMs = this.#elapsedMs(state);
    const elapsedSeconds = elapsedMs / 1000;
    const maxSeconds = this.raised(this.maxSeconds, state);
    const reached = this.reached(elapsedMs >= maxSeconds * 1000, state);
    return this.answer(reached, `${tenths(elapsedSeconds)} s of ${maxSeconds} s on the wall clock used`, { elapsedSeconds, maxSeconds });
  }

  #elapsedMs(state: State): number {
    const startedAt = this.#read.startedAt(state);
    const now = this.#read.now(state);
    return startedAt === undefined || now === undefined ? 0 : checkedCount('the wall clock', Math.max(0, now - startedAt));
  }
}
