import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import { checkedLimit } from './limit.ts';

/** How to read failures from a state. */
export interface FailureReader<State, Step> {
  readonly steps: (state: State) => readonly Step[];
  readonly hasError: (step: Step) => boolean;
}

function trailingFailures<State, Step>(state: State, { steps, hasError }: FailureReader<State, Step>): number {
  const list = steps(state);
  const lastGood = list.findLastIndex((step) => !hasError(step));
  return list.length - 1 - lastGood;
}

/** Forbids when this many steps in a row failed. Legacy: `ErrorPolicy.maxRetries` does this and more. */
export class RetryLimit<State, Step> extends BuiltInCriterion<State> {
  override readonly name = 'RetryLimit';
  readonly maxConsecutiveFailures: number;
  readonly #read: FailureReader<State, Step>;

  constructor(maxConsecutiveFailures: number, read: FailureReader<State, Step>) {
    super();
    this.maxConsecutiveFailures = checkedLimit('maxConsecutiveFailures', maxConsecutiveFailures, { least: 'zero' });
    this.#read = read;
  }

  override explain(state: State): ContinuationEvaluation {
    const consecutiveFailures = trailingFailures(state, this.#read);
    const { maxConsecutiveFailures } = this;
    const answer = {
      criterion: this.name,
      reason: `${consecutiveFailures} of ${maxConsecutiveFailures} failures in a row`,
      context: { consecutiveFailures, maxConsecutiveFailures },
    };
    // Without a failure there is nothing to forbid, whatever the limit.
    return consecutiveFailures > 0 && consecutiveFailures >= maxConsecutiveFailures
      ? { ...answer, decision: ContinuationDecision.ForbidContinuation, stopReason: StopReason.RetryLimitReached }
      : { ...answer, decision: ContinuationDecision.AllowContinuation };
  }
}
