import type { CanResolveErrorContext, ErrorPolicy, FailureState } from '../../errors/index.ts';
import { AgentErrorContextResolver, ErrorContext, ErrorHandlingDecision } from '../../errors/index.ts';
import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { Findings } from '../findings.ts';
import { StopReason } from '../stop-reason.ts';
import { toHandlingContext, toHandlingReason } from './handling-text.ts';

/** Forbids if the policy says stop: `retry_limit` when retries are used up, `error` otherwise. */
export class ErrorPolicyCriterion<State> extends BuiltInCriterion<State> {
  readonly policy: ErrorPolicy;
  readonly #resolver: CanResolveErrorContext<State>;
  // Most steps do not fail, and then the evaluation is always the same.
  readonly #noErrors: ContinuationEvaluation;

  constructor(policy: ErrorPolicy, resolver: CanResolveErrorContext<State>, options: CriterionOptions = {}) {
    super('ErrorPolicyCriterion', options);
    this.policy = policy;
    this.#resolver = resolver;
    this.#noErrors = Object.freeze(this.#judge(ErrorContext.none()));
  }

  /** Judges any state of the loop by this policy. */
  static withPolicy<State extends FailureState>(policy: ErrorPolicy, options: CriterionOptions = {}): ErrorPolicyCriterion<State> {
    return new ErrorPolicyCriterion<State>(policy, new AgentErrorContextResolver(), options);
  }

  override explain(state: State, findings: Findings = {}): ContinuationEvaluation {
    const contexts = this.#resolver.resolve(state, findings);
    return contexts === ErrorContext.none() ? this.#noErrors : this.#judge(contexts);
  }

  #judge(contexts: ErrorContext | readonly ErrorContext[]): ContinuationEvaluation {
    const handling = this.policy.handle(contexts);
    const stops = handling.decision === ErrorHandlingDecision.Stop;
    const stopReason = handling.cause === 'retries-used-up' ? StopReason.RetryLimitReached : StopReason.ErrorForbade;
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: stops ? ContinuationDecision.ForbidContinuation : ContinuationDecision.AllowContinuation,
      reason: toHandlingReason(handling),
      stopReason: stops ? stopReason : undefined,
      context: toHandlingContext(handling),
    });
  }
}
