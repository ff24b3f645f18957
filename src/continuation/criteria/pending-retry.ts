import { BuiltInCriterion } from '../built-in-criterion.ts';
import type { ErrorContextResolver, ErrorPolicy } from '../../errors/index.ts';
import { ErrorContext, ErrorHandlingDecision } from '../../errors/index.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { handlingContext, handlingText } from './handling-text.ts';

const nothingToRetry: ContinuationEvaluation = Object.freeze({
  criterion: 'PendingRetry',
  decision: ContinuationDecision.AllowContinuation,
  reason: 'nothing to retry',
  context: Object.freeze({}),
});

/** Requests another step while the policy says retry; has no opinion otherwise. */
export class PendingRetry<State> extends BuiltInCriterion<State> {
  override readonly name = 'PendingRetry';
  readonly #policy: ErrorPolicy;
  readonly #resolver: ErrorContextResolver<State>;

  constructor(policy: ErrorPolicy, resolver: ErrorContextResolver<State>) {
    super();
    this.#policy = policy;
    this.#resolver = resolver;
  }

  override explain(state: State): ContinuationEvaluation {
    const contexts = this.#resolver.resolve(state);
    if (contexts === ErrorContext.none()) return nothingToRetry;
    const handling = this.#policy.handle(contexts);
    if (handling.decision !== ErrorHandlingDecision.Retry) return nothingToRetry;
    const context = handlingContext(handling);
    return { criterion: this.name, decision: ContinuationDecision.RequestContinuation, reason: handlingText(handling), context };
  }
}
