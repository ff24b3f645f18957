import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';

/** The step type that leaves work to do. */
const toolExecution = 'tool_execution';

/** Requests another step after a step that used tools; lets go after any other. */
export class StopOnFinalDecision<State> extends BuiltInCriterion<State> {
  override readonly name = 'StopOnFinalDecision';
  readonly #stepType: (state: State) => string | null | undefined;

  constructor(stepType: (state: State) => string | null | undefined) {
    super();
    this.#stepType = stepType;
  }

  override explain(state: State): ContinuationEvaluation {
    const stepType = this.#stepType(state) ?? null;
    const answer = { criterion: this.name, context: { stepType } };
    if (stepType === null) return { ...answer, decision: ContinuationDecision.AllowContinuation, reason: 'there is no step yet' };
    if (stepType === toolExecution) {
      return { ...answer, decision: ContinuationDecision.RequestContinuation, reason: 'the last step used tools' };
    }
    return { ...answer, decision: ContinuationDecision.AllowStop, reason: `the last step was ${stepType}` };
  }
}
