import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import { checkedCount, checkedLimit, LimitCriterion, tenths } from './limit.ts';

/** Forbids when as much time was spent in steps as is allowed. Goes on where it was after a pause; waiting does not count. */
export class CumulativeExecutionTimeLimit<State> extends LimitCriterion<State> {
  override readonly name = 'CumulativeExecutionTimeLimit';
  protected override readonly stopReason: StopReason = StopReason.TimeLimitReached;
  protected override readonly limit: LimitKind = LimitKind.Active;
  readonly maxSeconds: number;
  readonly #cumulativeSeconds: (state: State) => number;

  constructor(maxSeconds: number, cumulativeSeconds: (state: State) => number) {
    super();
    this.maxSeconds = checkedLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#cumulativeSeconds = cumulativeSeconds;
  }

  remainingMs(state: State): number {
    return (this.maxSeconds - this.#cumulativeSeconds(state)) * 1000;
  }

  override explain(state: State): ContinuationEvaluation {
    const cumulativeSeconds = checkedCount('the active time', this.#cumulativeSeconds(state));
    return this.answer(cumulativeSeconds >= this.maxSeconds, `${tenths(cumulativeSeconds)} s of ${this.maxSeconds} s of active time used`, {
      cumulativeSeconds,
      maxSeconds: this.maxSeconds,
    });
  }
}
