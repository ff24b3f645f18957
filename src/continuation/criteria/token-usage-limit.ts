import type { Usage } from '../../messages/index.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import type { Comparison, LimitOptions } from './limit.ts';
import { assertCount, assertLimit, countCalls, LimitCriterion } from './limit.ts';

/** Forbids once the allowed tokens are used. Judged after a step, so the last step may overshoot. */
export class TokenUsageLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Tokens;
  readonly maxTokens: number;
  readonly #usage: (state: State) => number | Usage;

  constructor(maxTokens: number, usage: (state: State) => number | Usage, options: LimitOptions<State> = {}) {
    super('TokenUsageLimit', options);
    this.maxTokens = assertLimit('maxTokens', maxTokens, { least: 'zero' });
    this.#usage = usage;
  }

  protected override compare(state: State): Comparison {
    const usage = this.#usage(state);
    const [total, unknownCalls] = typeof usage === 'number' ? [usage, 0] : [usage.total, usage.unknownCalls ?? 0];
    const currentUsage = assertCount('the token usage', total);
    const maxTokens = this.raise(this.maxTokens, state);
    const unknown = unknownCalls === 0 ? '' : `; ${countCalls(unknownCalls)} reported no usage`;
    return {
      isReached: currentUsage >= maxTokens,
      reason: `${currentUsage} of ${maxTokens} tokens used`,
      note: unknown,
      max: maxTokens,
      context: { currentUsage, maxTokens, ...(unknownCalls > 0 && { unknownCalls }) },
    };
  }
}
