import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';

/** Requests another step after a step that used tools; allows a stop after any other. */
export class StopOnFinalDecision<State> extends BuiltInCriterion<State> {
  readonly #stepType: (state: State) => string | null | undefined;

  constructor(stepType: (state: State) => string | null | undefined, options: CriterionOptions = {}) {
    super('StopOnFinalDecision', options);
    this.#stepType = stepType;
  }

  override explain(state: State): ContinuationEvaluation {
    const stepType = this.#stepType(state) ?? null;
    const fields = { criterion: this.name, context: { stepType } };
    const { AllowContinuation, RequestContinuation, AllowStop } = ContinuationDecision;
    if (stepType === null) return { ...fields, decision: AllowContinuation, reason: 'there is no step yet' };
    if (stepType === 'tool_execution') return { ...fields, decision: RequestContinuation, reason: 'the last step used tools' };
    return { ...fields, decision: AllowStop, reason: `the last step was of type ${stepType}` };
  }
}
