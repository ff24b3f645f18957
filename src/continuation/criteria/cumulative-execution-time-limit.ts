import type { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import type { ExplainingCriterion } from '../criterion.ts';
import { StopReason } from '../stop-reason.ts';
import { checkedCount, checkedLimit, limitEvaluation } from './limit.ts';

/** Forbids when as much time was spent in steps as is allowed. Goes on where it was after a pause; waiting does not count. */
export class CumulativeExecutionTimeLimit<State> implements ExplainingCriterion<State> {
  readonly name = 'CumulativeExecutionTimeLimit';
  readonly maxSeconds: number;
  readonly #cumulativeSeconds: (state: State) => number;

  constructor(maxSeconds: number, cumulativeSeconds: (state: State) => number) {
    this.maxSeconds = checkedLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#cumulativeSeconds = cumulativeSeconds;
  }

  decide(state: State): ContinuationDecision {
    return this.explain(state).decision;
  }

  remainingMs(state: State): number {
    return (this.maxSeconds - this.#cumulativeSeconds(state)) * 1000;
  }

  explain(state: State): ContinuationEvaluation {
    const cumulativeSeconds = checkedCount('the active time', this.#cumulativeSeconds(state));
    return limitEvaluation({
      criterion: this.name,
      reached: cumulativeSeconds >= this.maxSeconds,
      reason: `${cumulativeSeconds.toFixed(1)} s of ${this.maxSeconds} s of active time used`,
      stopReason: StopReason.TimeLimitReached,
      limit: LimitKind.Active,
      context: { cumulativeSeconds, maxSeconds: this.maxSeconds },
    });
  }
}
