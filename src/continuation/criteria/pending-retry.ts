import type { CanResolveErrorContext, ErrorPolicy } from '../../errors/index.ts';
import { ErrorContext, ErrorHandlingDecision } from '../../errors/index.ts';
import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { Findings } from '../findings.ts';
import { toHandlingContext, toHandlingReason } from './handling-text.ts';

/** Requests another step while the policy says retry; has no opinion otherwise. */
export class PendingRetry<State> extends BuiltInCriterion<State> {
  readonly #policy: ErrorPolicy;
  readonly #resolver: CanResolveErrorContext<State>;
  readonly #nothingToRetry: ContinuationEvaluation;

  constructor(policy: ErrorPolicy, resolver: CanResolveErrorContext<State>, options: CriterionOptions = {}) {
    super('PendingRetry', options);
    this.#policy = policy;
    this.#resolver = resolver;
    this.#nothingToRetry = new ContinuationEvaluation({
      criterion: this.name,
      decision: ContinuationDecision.AllowContinuation,
      reason: 'nothing to retry',
    });
  }

  override explain(state: State, findings: Findings = {}): ContinuationEvaluation {
    const contexts = this.#resolver.resolve(state, findings);
    if (contexts === ErrorContext.none()) return this.#nothingToRetry;
    const handling = this.#policy.handle(contexts);
    if (handling.decision !== ErrorHandlingDecision.Retry) return this.#nothingToRetry;
    return new ContinuationEvaluation({
      criterion: this.name,
      decision: ContinuationDecision.RequestContinuation,
      reason: toHandlingReason(handling),
      context: toHandlingContext(handling),
    });
  }
}
