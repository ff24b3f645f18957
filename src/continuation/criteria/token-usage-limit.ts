import type { Usage } from '../../messages/index.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import type { LimitOptions } from './limit.ts';
import { checkedCount, checkedLimit, LimitCriterion } from './limit.ts';

/** Forbids when as many tokens were used as are allowed. Judged after a step, so the last step may overshoot. */
export class TokenUsageLimit<State> extends LimitCriterion<State> {
  override readonly name = 'TokenUsageLimit';
  protected override readonly stopReason: StopReason = StopReason.TokenLimitReached;
  protected override readonly limit: LimitKind = LimitKind.Tokens;
  readonly maxTokens: number;
  readonly #usage: (state: State) => number | Usage;

  constructor(maxTokens: number, usage: (state: State) => number | Usage, options: LimitOptions<State> = {}) {
    super(options);
    this.maxTokens = checkedLimit('maxTokens', maxTokens, { least: 'zero' });
    this.#usage = usage;
  }

  override explain(state: State): ContinuationEvaluation {
    const usage = this.#usage(state);
    const currentUsage = checkedCount('the token usage', typeof usage === 'number' ? usage : usage.total);
    const unknownCalls = typeof usage === 'number' ? 0 : (usage.unknownCalls ?? 0);
    const unknown = unknownCalls === 0 ? '' : `; ${unknownCalls} ${unknownCalls === 1 ? 'call' : 'calls'} did not report any`;
    const maxTokens = this.raised(this.maxTokens, state);
    return this.answer(this.reached(currentUsage >= maxTokens, state), `${currentUsage} of ${maxTokens} tokens used${unknown}`, {
      currentUsage,
      maxTokens,
      ...(unknownCalls > 0 && { unknownCalls }),
    });
  }
}
