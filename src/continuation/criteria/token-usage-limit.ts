import type { Usage } from '../../messages/index.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import type { LimitOptions, LimitReading, LimitText } from './limit.ts';
import { assertCount, assertWholeLimit, countCalls, LimitCriterion } from './limit.ts';

/** Forbids once the allowed tokens are used. Judged after a step, so the last step may overshoot. */
export class TokenUsageLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Tokens;
  readonly maxTokens: number;
  readonly #usage: (state: State) => number | Usage;

  constructor(maxTokens: number, usage: (state: State) => number | Usage, options: LimitOptions<State> = {}) {
    super('TokenUsageLimit', options);
    this.maxTokens = assertWholeLimit('maxTokens', maxTokens);
    this.#usage = usage;
  }

  protected override read(state: State): LimitReading {
    const usage = this.#usage(state);
    const total = typeof usage === 'number' ? usage : usage.total;
    const unknownCalls = typeof usage === 'number' ? 0 : (usage.unknownCalls ?? 0);
    return { used: assertCount('the token usage', total), max: this.raise(this.maxTokens, state), unknownCalls };
  }

  protected override describe({ used: currentUsage, max: maxTokens, unknownCalls = 0 }: LimitReading): LimitText {
    return {
      reason: `${currentUsage} of ${maxTokens} tokens used`,
      note: unknownCalls === 0 ? '' : `; ${countCalls(unknownCalls)} reported no usage`,
      context: { currentUsage, maxTokens, ...(unknownCalls > 0 && { unknownCalls }) },
    };
  }
}
