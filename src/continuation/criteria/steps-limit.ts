import { BuiltInCriterion } from '../built-in-criterion.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import { checkedCount, checkedLimit, limitEvaluation } from './limit.ts';

/** Forbids when as many steps were taken as are allowed. 0 refuses to start. */
export class StepsLimit<State> extends BuiltInCriterion<State> {
  override readonly name = 'StepsLimit';
  readonly maxSteps: number;
  readonly #stepCount: (state: State) => number;

  constructor(maxSteps: number, stepCount: (state: State) => number) {
    super();
    this.maxSteps = checkedLimit('maxSteps', maxSteps, { least: 'zero' });
    this.#stepCount = stepCount;
  }

  override explain(state: State): ContinuationEvaluation {
    const currentSteps = checkedCount('the step count', this.#stepCount(state));
    return limitEvaluation({
      criterion: this.name,
      reached: currentSteps >= this.maxSteps,
      reason: `${currentSteps} of ${this.maxSteps} steps used`,
      stopReason: StopReason.StepsLimitReached,
      limit: LimitKind.Steps,
      context: { currentSteps, maxSteps: this.maxSteps },
    });
  }
}
