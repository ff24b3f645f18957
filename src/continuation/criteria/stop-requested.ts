import { cleanText } from '../../lib/index.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { Findings, StopRequest } from '../findings.ts';
import { StopReason } from '../stop-reason.ts';

const criterion = 'StopRequested';
const notRequested = new ContinuationEvaluation({
  criterion,
  decision: ContinuationDecision.AllowContinuation,
  reason: 'nobody asked to stop',
});

/** Forbids if somebody asked the run to end. */
export class StopRequested<State> extends BuiltInCriterion<State> {
  override readonly name: string = criterion;

  override explain(_state: State, { stopRequest }: Findings = {}): ContinuationEvaluation {
    return stopRequest === undefined ? notRequested : toStopEvaluation(stopRequest);
  }
}

/** The evaluation of a stop request, even if the criterion is not installed. */
export function toStopEvaluation({ by, reason: given }: StopRequest): ContinuationEvaluation {
  const reason = cleanText(given);
  const decision = ContinuationDecision.ForbidContinuation;
  return new ContinuationEvaluation({ criterion, decision, reason, stopReason: StopReason.UserRequested, context: { by } });
}
