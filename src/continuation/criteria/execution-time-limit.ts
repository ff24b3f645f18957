import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
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

  constructor(maxSeconds: number, read: WallClockReader<State>) {
    super();
    this.maxSeconds = checkedLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#read = read;
  }

  remainingMs(state: State): number {
    return this.maxSeconds * 1000 - this.#elapsedMs(state);
  }

  override explain(state: State): ContinuationEvaluation {
    const elapsedMs = this.#elapsedMs(state);
    const elapsedSeconds = elapsedMs / 1000;
    return this.answer(elapsedMs >= this.maxSeconds * 1000, `${tenths(elapsedSeconds)} s of ${this.maxSeconds} s on the wall clock used`, {
      elapsedSeconds,
      maxSeconds: this.maxSeconds,
    });
  }

  #elapsedMs(state: State): number {
    const startedAt = this.#read.startedAt(state);
    const now = this.#read.now(state);
    return startedAt === undefined || now === undefined ? 0 : checkedCount('the wall clock', Math.max(0, now - startedAt));
  }
}
