import { ContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { ContinuationOutcome } from './continuation-outcome.ts';

/** A whole outcome as one evaluation, for the collection that contains the judged one. */
export function toNestedEvaluation(name: string, outcome: ContinuationOutcome): ContinuationEvaluation {
  const { decision, evaluations, resolvedBy } = outcome;
  // By name and decision, because a criterion may be called "aggregate".
  const decisive = evaluations.find((evaluation) => evaluation.criterion === resolvedBy && evaluation.decision === decision);
  const count = evaluations.length;
  const undecided = count === 0 ? 'there were no criteria to ask' : `none of ${count} criteria was decisive`;
  return new ContinuationEvaluation({
    criterion: name,
    // A permission does not become a demand by being nested.
    decision: outcome.shouldContinue && decisive === undefined ? ContinuationDecision.AllowContinuation : decision,
    reason: decisive === undefined ? undecided : `${decisive.criterion}: ${decisive.reason}`,
    stopReason: outcome.isForbidden ? outcome.stopReason : undefined,
    limit: outcome.isOnlyLimited ? decisive?.limit : undefined,
    atLimit: outcome.isOnlyLimited ? decisive?.atLimit : undefined,
    context: { criteriaCount: count, resolvedBy },
  });
}
