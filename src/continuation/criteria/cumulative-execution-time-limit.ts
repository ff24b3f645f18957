import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import type { LimitOptions } from './limit.ts';
import { checkedCount, checkedLimit, LimitCriterion, tenths } from './limit.ts';

/** Forbids when as much time was spent in steps as is allowed. Goes on where it was after a pause; waiting does not count. */
export class CumulativeExecutionTimeLimit<State> extends LimitCriterion<State> {
  override readonly name = 'CumulativeExecutionTimeLimit';
  protected override readonly stopReason: StopReason = StopReason.TimeLimitReached;
  protected override readonly limit: LimitKind = LimitKind.Active;
  readonly maxSeconds: number;
  readonly #cumulativeSeconds: (state: State) => number;

  constructor(maxSeconds: number, cumulativeSeconds: (state: State) => number, options: LimitOptions<State> = {}) {
    super(options);
    this.maxSeconds = checkedLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#cumulativeSeconds = cumulativeSeconds;
  }

  remainingMs(state: State): number {
    return (this.raised(this.maxSeconds, state) - this.#cumulativeSeconds(state)) * 1000;
  }

  override explain(state: State): ContinuationEvaluation {
    const cumulativeSeconds = checkedCount('the active time', this.#cumulativeSeconds(state));
    const maxSeconds = this.raised(this.maxSeconds, state);
    const reached = this.reached(cumulativeSeconds >= maxSeconds, state);
    return this.answer(reached, `${tenths(cumulativeSeconds)} s of ${maxSeconds} s of active time used`, { cumulativeSeconds, maxSeconds });
  }
}
