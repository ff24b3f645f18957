import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

/** Forbids when the last step failed. Legacy: `ErrorPolicyCriterion` does this and more. */
export class ErrorPresenceCheck<State> extends BuiltInCriterion<State> {
  override readonly name = 'ErrorPresenceCheck';
  readonly #hasErrors: (state: State) => boolean;

  constructor(hasErrors: (state: State) => boolean) {
    super();
    this.#hasErrors = hasErrors;
  }

  override explain(state: State): ContinuationEvaluation {
    const hasErrors = this.#hasErrors(state);
    const answer = { criterion: this.name, context: { hasErrors } };
    return hasErrors
      ? {
          ...answer,
          decision: ContinuationDecision.ForbidContinuation,
          reason: 'the last step failed',
          stopReason: StopReason.ErrorForbade,
        }
      : { ...answer, decision: ContinuationDecision.AllowContinuation, reason: 'no errors' };
  }
}
