import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { ExplainingCriterion } from '../criterion.ts';
import { StopReason } from '../stop-reason.ts';

function reasonFor(finishReason: string | undefined, stopReasons: readonly string[]): string {
  if (stopReasons.length === 0) return 'no finish reasons are watched for';
  if (finishReason === undefined) return 'no finish reason came';
  const matched = stopReasons.includes(finishReason);
  return `finish reason "${finishReason}" is ${matched ? '' : 'not '}among ${stopReasons.join(', ')}`;
}

/** Forbids when the model finished for one of the given reasons. */
export class FinishReasonCheck<State> implements ExplainingCriterion<State> {
  readonly name = 'FinishReasonCheck';
  readonly stopReasons: readonly string[];
  readonly #finishReason: (state: State) => string | null | undefined;

  constructor(stopReasons: readonly string[], finishReason: (state: State) => string | null | undefined) {
    this.stopReasons = [...stopReasons];
    this.#finishReason = finishReason;
  }

  decide(state: State): ContinuationDecision {
    return this.explain(state).decision;
  }

  explain(state: State): ContinuationEvaluation {
    const finishReason = this.#finishReason(state) ?? undefined;
    const criterion = this.name;
    const reason = reasonFor(finishReason, this.stopReasons);
    const context = { finishReason: finishReason ?? null, stopReasons: this.stopReasons };
    return finishReason !== undefined && this.stopReasons.includes(finishReason)
      ? { criterion, decision: ContinuationDecision.ForbidContinuation, reason, stopReason: StopReason.FinishReasonReceived, context }
      : { criterion, decision: ContinuationDecision.AllowContinuation, reason, context };
  }
}
