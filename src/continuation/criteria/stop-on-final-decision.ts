import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { ExplainingCriterion } from '../criterion.ts';

/** The step type that leaves work to do. */
const toolExecution = 'tool_execution';

/** Requests another step after a step that used tools; lets go after any other. */
export class StopOnFinalDecision<State> implements ExplainingCriterion<State> {
  readonly name = 'StopOnFinalDecision';
  readonly #stepType: (state: State) => string | null | undefined;

  constructor(stepType: (state: State) => string | null | undefined) {
    this.#stepType = stepType;
  }

  decide(state: State): ContinuationDecision {
    return this.explain(state).decision;
  }

  explain(state: State): ContinuationEvaluation {
    const stepType = this.#stepType(state) ?? null;
    const answer = { criterion: this.name, context: { stepType } };
    if (stepType === null) return { ...answer, decision: ContinuationDecision.AllowContinuation, reason: 'there is no step yet' };
    if (stepType === toolExecution) {
      return { ...answer, decision: ContinuationDecision.RequestContinuation, reason: 'the last step used tools' };
    }
    return { ...answer, decision: ContinuationDecision.AllowStop, reason: `the last step was ${stepType}` };
  }
}
