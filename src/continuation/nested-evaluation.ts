import { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { ContinuationOutcome } from './continuation-outcome.ts';

function reasonFor({ evaluations }: ContinuationOutcome, decisive: ContinuationEvaluation | undefined): string {
  if (decisive !== undefined) return `${decisive.criterion}: ${decisive.reason}`;
  return evaluations.length === 0 ? 'there were no criteria to ask' : `none of ${evaluations.length} criteria was decisive`;
}

/** A whole outcome as one answer, for the collection that contains the judged one. */
export function nestedEvaluation(name: string, outcome: ContinuationOutcome): ContinuationEvaluation {
  const { decision, evaluations, resolvedBy } = outcome;
  // By name and answer, because two criteria may share a name.
  const decisive = evaluations.find((evaluation) => evaluation.criterion === resolvedBy && evaluation.decision === decision);
  const merelyAllows = outcome.shouldContinue && decisive === undefined;
  return {
    criterion: name,
    // A permission does not become a demand by being nested.
    decision: merelyAllows ? ContinuationDecision.AllowContinuation : decision,
    reason: reasonFor(outcome, decisive),
    ...(outcome.isForbidden && { stopReason: outcome.stopReason }),
    ...(outcome.isOnlyLimited && decisive?.limit !== undefined && { limit: decisive.limit }),
    context: { criteriaCount: evaluations.length, resolvedBy },
  };
}
