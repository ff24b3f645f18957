import { LimitKind } from '../continuation-evaluation.ts';
import type { Comparison, LimitOptions } from './limit.ts';
import { assertCount, assertLimit, LimitCriterion } from './limit.ts';

/** Forbids once the allowed number of steps is taken. 0 refuses to start. */
export class StepsLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Steps;
  readonly maxSteps: number;
  readonly #stepCount: (state: State) => number;

  constructor(maxSteps: number, stepCount: (state: State) => number, options: LimitOptions<State> = {}) {
    super('StepsLimit', options);
    this.maxSteps = assertLimit('maxSteps', maxSteps, { least: 'zero' });
    this.#stepCount = stepCount;
  }

  protected override compare(state: State): Comparison {
    const currentSteps = assertCount('the step count', this.#stepCount(state));
    const maxSteps = this.raise(this.maxSteps, state);
    const reason = `${currentSteps} of ${maxSteps} steps used`;
    return { isReached: currentSteps >= maxSteps, reason, max: maxSteps, context: { currentSteps, maxSteps } };
  }
}
