import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import { assertWholeLimit } from './limit.ts';

/** Readers of failures from a state. */
export interface FailureReader<State, Step> {
  readonly steps: (state: State) => readonly Step[];
  readonly hasError: (step: Step) => boolean;
}

function countTrailingFailures<State, Step>(state: State, { steps, hasError }: FailureReader<State, Step>): number {
  const list = steps(state);
  const lastGood = list.findLastIndex((step) => !hasError(step));
  return list.length - 1 - lastGood;
}

/** Forbids once this many steps in a row failed. Legacy: `ErrorPolicy.maxRetries` does this and more. */
export class RetryLimit<State, Step> extends BuiltInCriterion<State> {
  readonly maxConsecutiveFailures: number;
  readonly #read: FailureReader<State, Step>;

  constructor(maxConsecutiveFailures: number, read: FailureReader<State, Step>, options: CriterionOptions = {}) {
    super('RetryLimit', options);
    this.maxConsecutiveFailures = assertWholeLimit('maxConsecutiveFailures', maxConsecutiveFailures);
    this.#read = read;
  }

  override explain(state: State): ContinuationEvaluation {
    const consecutiveFailures = countTrailingFailures(state, this.#read);
    const { maxConsecutiveFailures } = this;
    // Without a failure there is nothing to forbid, whatever the limit.
    const forbids = consecutiveFailures > 0 && consecutiveFailures >= maxConsecutiveFailures;
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: forbids ? ContinuationDecision.ForbidContinuation : ContinuationDecision.AllowContinuation,
      reason: `${consecutiveFailures} of ${maxConsecutiveFailures} failures in a row${forbids ? ', limit reached' : ''}`,
      stopReason: forbids ? StopReason.RetryLimitReached : undefined,
      context: { consecutiveFailures, maxConsecutiveFailures },
    });
  }
}
