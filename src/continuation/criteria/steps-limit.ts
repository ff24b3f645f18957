import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import type { LimitOptions } from './limit.ts';
import { checkedCount, checkedLimit, LimitCriterion } from './limit.ts';

/** Forbids when as many steps were taken as are allowed. 0 refuses to start. */
export class StepsLimit<State> extends LimitCriterion<State> {
  override readonly name = 'StepsLimit';
  protected override readonly stopReason: StopReason = StopReason.StepsLimitReached;
  protected override readonly limit: LimitKind = LimitKind.Steps;
  readonly maxSteps: number;
  readonly #stepCount: (state: State) => number;

  constructor(maxSteps: number, stepCount: (state: State) => number, options: LimitOptions<State> = {}) {
    super(options);
    this.maxSteps = checkedLimit('maxSteps', maxSteps, { least: 'zero' });
    this.#stepCount = stepCount;
  }

  override explain(state: State): ContinuationEvaluation {
    const currentSteps = checkedCount('the step count', this.#stepCount(state));
    const maxSteps = this.raised(this.maxSteps, state);
    return this.answer(this.reached(currentSteps >= maxSteps, state), `${currentSteps} of ${maxSteps} steps used`, {
      currentSteps,
      maxSteps,
    });
  }
}
