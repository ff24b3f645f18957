import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

/** Somebody asked the run to end. */
export interface StopRequest {
  /** `signal`: an AbortSignal fired, and work in flight was cut off. `request`: end at the next boundary. */
  readonly by: 'signal' | 'request';
  readonly reason: string;
}

const nobodyAsked: ContinuationEvaluation = Object.freeze({
  criterion: 'StopRequested',
  decision: ContinuationDecision.AllowContinuation,
  reason: 'nobody asked to stop',
  context: Object.freeze({}),
});

/** Forbids when somebody asked the run to end. */
export class StopRequested<State> extends BuiltInCriterion<State> {
  override readonly name = 'StopRequested';
  readonly #stopRequest: (state: State) => StopRequest | undefined;

  constructor(stopRequest: (state: State) => StopRequest | undefined) {
    super();
    this.#stopRequest = stopRequest;
  }

  override explain(state: State): ContinuationEvaluation {
    const request = this.#stopRequest(state);
    return request === undefined ? nobodyAsked : stopRequestedEvaluation(request);
  }
}

/** The answer to a stop request, also where no such criterion was installed. */
export function stopRequestedEvaluation({ by, reason }: StopRequest): ContinuationEvaluation {
  return {
    criterion: 'StopRequested',
    decision: ContinuationDecision.ForbidContinuation,
    reason,
    stopReason: StopReason.UserRequested,
    context: { by },
  };
}
