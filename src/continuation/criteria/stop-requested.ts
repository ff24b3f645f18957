import { cleanText } from '../../lib/index.ts';
import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { Findings, StopRequest } from '../findings.ts';
import { StopReason } from '../stop-reason.ts';

const usualName = 'StopRequested';

/** Forbids if somebody asked the run to end. */
export class StopRequested<State> extends BuiltInCriterion<State> {
  readonly #notRequested: ContinuationEvaluation;

  constructor(options: CriterionOptions = {}) {
    super(usualName, options);
    this.#notRequested = new ContinuationEvaluation({
      criterion: this.name,
      decision: ContinuationDecision.AllowContinuation,
      reason: 'nobody asked to stop',
    });
  }

  override explain(_state: State, { stopRequest }: Findings = {}): ContinuationEvaluation {
    return stopRequest === undefined ? this.#notRequested : toStopEvaluation(stopRequest, this.name);
  }
}

/** The evaluation of a stop request, even if the criterion is not installed. */
export function toStopEvaluation(
  { by, reason: given, person, crashes: attempts }: StopRequest,
  criterion: string = usualName,
): ContinuationEvaluation {
  const reason = cleanText(given);
  const decision = ContinuationDecision.ForbidContinuation;
  return new ContinuationEvaluation({
    criterion,
    decision,
    reason,
    stopReason: StopReason.UserRequested,
    context: { by, ...(person !== undefined && { person: cleanText(person) }), ...(attempts !== undefined && { attempts }) },
  });
}
