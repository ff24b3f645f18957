import { LimitKind } from '../continuation-evaluation.ts';
import type { LimitOptions, LimitReading, LimitText } from './limit.ts';
import { assertCount, assertWholeLimit, LimitCriterion } from './limit.ts';

/** Forbids once the allowed number of steps is taken. 0 refuses to start. */
export class StepsLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Steps;
  readonly maxSteps: number;
  readonly #stepCount: (state: State) => number;

  constructor(maxSteps: number, stepCount: (state: State) => number, options: LimitOptions<State> = {}) {
    super('StepsLimit', options);
    this.maxSteps = assertWholeLimit('maxSteps', maxSteps);
    this.#stepCount = stepCount;
  }

  protected override read(state: State): LimitReading {
    return { used: assertCount('the step count', this.#stepCount(state)), max: this.raise(this.maxSteps, state) };
  }

  protected override describe({ used: currentSteps, max: maxSteps }: LimitReading): LimitText {
    return { reason: `${currentSteps} of ${maxSteps} steps used`, context: { currentSteps, maxSteps } };
  }
}
