import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

function reasonFor(finishReason: string | undefined, stopReasons: readonly string[]): string {
  if (stopReasons.length === 0) return 'no finish reasons are watched for';
  if (finishReason === undefined) return 'no finish reason came';
  const matched = stopReasons.includes(finishReason);
  return `finish reason "${finishReason}" is ${matched ? '' : 'not '}among ${stopReasons.join(', ')}`;
}

/** Forbids when the model finished for one of the given reasons. */
export class FinishReasonCheck<State> extends BuiltInCriterion<State> {
  override readonly name = 'FinishReasonCheck';
  readonly stopReasons: readonly string[];
  readonly #finishReason: (state: State) => string | null | undefined;
  // The answer where no finish reason came, as in most steps.
  readonly #none: ContinuationEvaluation;

  constructor(stopReasons: readonly string[], finishReason: (state: State) => string | null | undefined) {
    super();
    this.stopReasons = [...stopReasons];
    this.#finishReason = finishReason;
    this.#none = this.#answer(undefined);
  }

  override explain(state: State): ContinuationEvaluation {
    const finishReason = this.#finishReason(state) ?? undefined;
    return finishReason === undefined ? this.#none : this.#answer(finishReason);
  }

  #answer(finishReason: string | undefined): ContinuationEvaluation {
    const criterion = this.name;
    const reason = reasonFor(finishReason, this.stopReasons);
    const context = { finishReason: finishReason ?? null, stopReasons: this.stopReasons };
    return finishReason !== undefined && this.stopReasons.includes(finishReason)
      ? { criterion, decision: ContinuationDecision.ForbidContinuation, reason, stopReason: StopReason.FinishReasonReceived, context }
      : { criterion, decision: ContinuationDecision.AllowContinuation, reason, context };
  }
}
