import { BuiltInCriterion } from '../built-in-criterion.ts';
import type { ErrorContextResolver, ErrorPolicy } from '../../errors/index.ts';
import { ErrorContext, ErrorHandlingDecision, isExhausted } from '../../errors/index.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import { handlingContext, handlingText } from './handling-text.ts';

/** Forbids where the policy says stop: `retry_limit` when retries are used up, `error` otherwise. */
export class ErrorPolicyCriterion<State> extends BuiltInCriterion<State> {
  override readonly name = 'ErrorPolicyCriterion';
  readonly policy: ErrorPolicy;
  readonly #resolver: ErrorContextResolver<State>;
  // Most steps do not fail, and then the answer is always the same.
  readonly #noErrors: ContinuationEvaluation;

  constructor(policy: ErrorPolicy, resolver: ErrorContextResolver<State>) {
    super();
    this.policy = policy;
    this.#resolver = resolver;
    this.#noErrors = Object.freeze(this.#answer(ErrorContext.none()));
  }

  override explain(state: State): ContinuationEvaluation {
    const contexts = this.#resolver.resolve(state);
    return contexts === ErrorContext.none() ? this.#noErrors : this.#answer(contexts);
  }

  #answer(contexts: ErrorContext | readonly ErrorContext[]): ContinuationEvaluation {
    const handling = this.policy.handle(contexts);
    const answer = { criterion: this.name, reason: handlingText(handling), context: handlingContext(handling) };
    if (handling.decision !== ErrorHandlingDecision.Stop) return { ...answer, decision: ContinuationDecision.AllowContinuation };
    const stopReason = isExhausted(handling) ? StopReason.RetryLimitReached : StopReason.ErrorForbade;
    return { ...answer, decision: ContinuationDecision.ForbidContinuation, stopReason };
  }
}
