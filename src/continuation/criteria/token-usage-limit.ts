import { BuiltInCriterion } from '../built-in-criterion.ts';
import type { Usage } from '../../messages/index.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import { checkedCount, checkedLimit, limitEvaluation } from './limit.ts';

/** Forbids when as many tokens were used as are allowed. Judged after a step, so the last step may overshoot. */
export class TokenUsageLimit<State> extends BuiltInCriterion<State> {
  override readonly name = 'TokenUsageLimit';
  readonly maxTokens: number;
  readonly #usage: (state: State) => number | Usage;

  constructor(maxTokens: number, usage: (state: State) => number | Usage) {
    super();
    this.maxTokens = checkedLimit('maxTokens', maxTokens, { least: 'zero' });
    this.#usage = usage;
  }

  override explain(state: State): ContinuationEvaluation {
    const usage = this.#usage(state);
    const currentUsage = checkedCount('the token usage', typeof usage === 'number' ? usage : usage.total);
    const unknownCalls = typeof usage === 'number' ? 0 : (usage.unknownCalls ?? 0);
    const unknown = unknownCalls === 0 ? '' : `; ${unknownCalls} ${unknownCalls === 1 ? 'call' : 'calls'} did not report any`;
    return limitEvaluation({
      criterion: this.name,
      reached: currentUsage >= this.maxTokens,
      reason: `${currentUsage} of ${this.maxTokens} tokens used${unknown}`,
      stopReason: StopReason.TokenLimitReached,
      limit: LimitKind.Tokens,
      context: { currentUsage, maxTokens: this.maxTokens, ...(unknownCalls > 0 && { unknownCalls }) },
    });
  }
}
