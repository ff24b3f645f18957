import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

/** Forbids if the last step failed. Legacy: `ErrorPolicyCriterion` does this and more. */
export class ErrorPresenceCheck<State> extends BuiltInCriterion<State> {
  readonly #hasErrors: (state: State) => boolean;

  constructor(hasErrors: (state: State) => boolean, options: CriterionOptions = {}) {
    super('ErrorPresenceCheck', options);
    this.#hasErrors = hasErrors;
  }

  override explain(state: State): ContinuationEvaluation {
    const hasErrors = this.#hasErrors(state);
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: hasErrors ? ContinuationDecision.ForbidContinuation : ContinuationDecision.AllowContinuation,
      reason: hasErrors ? 'the last step failed' : 'nothing failed',
      stopReason: hasErrors ? StopReason.ErrorForbade : undefined,
      context: { hasErrors },
    });
  }
}
