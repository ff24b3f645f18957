import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

function toReason(finishReason: string | undefined, stopReasons: readonly string[]): string {
  if (stopReasons.length === 0) return 'no finish reason ends the run';
  if (finishReason === undefined) return 'the provider gave no finish reason';
  return stopReasons.includes(finishReason)
    ? `the answer ended with the finish reason "${finishReason}", which ends the run`
    : `the finish reason "${finishReason}" does not end the run`;
}

/** Forbids if the model finished for one of the given reasons. */
export class FinishReasonCheck<State> extends BuiltInCriterion<State> {
  readonly stopReasons: readonly string[];
  readonly #finishReason: (state: State) => string | null | undefined;
  // Most steps end with the same finish reason, and then the evaluation is the same.
  #last: { readonly finishReason: string | undefined; readonly evaluation: ContinuationEvaluation };

  constructor(stopReasons: readonly string[], finishReason: (state: State) => string | null | undefined, options: CriterionOptions = {}) {
    super('FinishReasonCheck', options);
    this.stopReasons = Object.freeze([...stopReasons]);
    this.#finishReason = finishReason;
    this.#last = { finishReason: undefined, evaluation: this.#judge(undefined) };
  }

  override explain(state: State): ContinuationEvaluation {
    const finishReason = this.#finishReason(state) ?? undefined;
    if (this.#last.finishReason !== finishReason) this.#last = { finishReason, evaluation: this.#judge(finishReason) };
    return this.#last.evaluation;
  }

  #judge(finishReason: string | undefined): ContinuationEvaluation {
    const matches = finishReason !== undefined && this.stopReasons.includes(finishReason);
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: matches ? ContinuationDecision.ForbidContinuation : ContinuationDecision.AllowContinuation,
      reason: toReason(finishReason, this.stopReasons),
      stopReason: matches ? StopReason.FinishReasonReceived : undefined,
      context: { finishReason: finishReason ?? null, stopReasons: this.stopReasons },
    });
  }
}
