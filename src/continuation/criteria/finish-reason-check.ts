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

/** Number of finish reasons whose evaluations are kept; a provider may send anything. */
const mostKept = 16;

/** Forbids if the model finished for one of the given reasons. */
export class FinishReasonCheck<State> extends BuiltInCriterion<State> {
  readonly stopReasons: readonly string[];
  readonly #finishReason: (state: State) => string | null | undefined;
  // Models have a few finish reasons, and for each of them the evaluation is always the same.
  readonly #evaluations = new Map<string | undefined, ContinuationEvaluation>();

  constructor(stopReasons: readonly string[], finishReason: (state: State) => string | null | undefined, options: CriterionOptions = {}) {
    super('FinishReasonCheck', options);
    this.stopReasons = Object.freeze([...stopReasons]);
    this.#finishReason = finishReason;
  }

  override explain(state: State): ContinuationEvaluation {
    const finishReason = this.#finishReason(state) ?? undefined;
    const known = this.#evaluations.get(finishReason);
    if (known !== undefined) return known;
    const evaluation = this.#judge(finishReason);
    if (this.#evaluations.size < mostKept) this.#evaluations.set(finishReason, evaluation);
    return evaluation;
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
