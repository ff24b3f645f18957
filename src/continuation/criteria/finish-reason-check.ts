import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

function toReason(finishReason: string | undefined, stopReasons: readonly string[]): string {
  if (stopReasons.length === 0) return 'no finish reasons are watched for';
  if (finishReason === undefined) return 'no finish reason came';
  const matched = stopReasons.includes(finishReason);
  return `finish reason "${finishReason}" is ${matched ? '' : 'not '}among ${stopReasons.join(', ')}`;
}

/** Forbids if the model finished for one of the given reasons. */
export class FinishReasonCheck<State> extends BuiltInCriterion<State> {
  readonly stopReasons: readonly string[];
  readonly #finishReason: (state: State) => string | null | undefined;
  // Most steps bring no finish reason, and then the evaluation is always the same.
  readonly #none: ContinuationEvaluation;

  constructor(stopReasons: readonly string[], finishReason: (state: State) => string | null | undefined, options: CriterionOptions = {}) {
    super('FinishReasonCheck', options);
    this.stopReasons = [...stopReasons];
    this.#finishReason = finishReason;
    this.#none = this.#judge(undefined);
  }

  override explain(state: State): ContinuationEvaluation {
    const finishReason = this.#finishReason(state) ?? undefined;
    return finishReason === undefined ? this.#none : this.#judge(finishReason);
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
