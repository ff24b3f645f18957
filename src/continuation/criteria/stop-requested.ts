import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { Findings } from '../findings.ts';
import { StopReason } from '../stop-reason.ts';

/** A request that the run end. */
export interface StopRequest {
  /** `signal`: an AbortSignal fired, and work in flight was cut off. `request`: end at the next boundary. */
  readonly by: 'signal' | 'request';
  readonly reason: string;
}

const criterion = 'StopRequested';
const notRequested = new ContinuationEvaluation({
  criterion,
  decision: ContinuationDecision.AllowContinuation,
  reason: 'nobody asked to stop',
});

/** Forbids if somebody asked the run to end. */
export class StopRequested<State> extends BuiltInCriterion<State> {
  override readonly name = criterion;

  override explain(_state: State, { stopRequest }: Findings = {}): ContinuationEvaluation {
    return stopRequest === undefined ? notRequested : toStopEvaluation(stopRequest);
  }
}

/** The evaluation of a stop request, even if the criterion is not installed. */
export function toStopEvaluation({ by, reason }: StopRequest): ContinuationEvaluation {
  const decision = ContinuationDecision.ForbidContinuation;
  return new ContinuationEvaluation({ criterion, decision, reason, stopReason: StopReason.UserRequested, context: { by } });
}
