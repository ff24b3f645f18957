import { LimitKind } from '../continuation-evaluation.ts';
import type { LimitOptions, LimitReading, LimitText } from './limit.ts';
import { assertCount, assertLimit, countCalls, LimitCriterion } from './limit.ts';

/** Cost of calls so far, as far as it is known. */
export interface CostSoFar {
  readonly usd: number;
  /** Calls whose price or usage is not known; their cost is not in `usd`. */
  readonly unknownCalls?: number;
}

const roundUsd = (usd: number): number => Math.round(usd * 10_000) / 10_000;

/** Forbids once the allowed amount is spent. Unknown costs are not counted, and the reason says so. Judged after a step. */
export class CostLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Cost;
  readonly maxUsd: number;
  readonly #cost: (state: State) => CostSoFar | undefined;

  constructor(maxUsd: number, cost: (state: State) => CostSoFar | undefined, options: LimitOptions<State> = {}) {
    super('CostLimit', options);
    this.maxUsd = assertLimit('maxUsd', maxUsd, { least: 'zero' });
    this.#cost = cost;
  }

  protected override read(state: State): LimitReading {
    const { usd, unknownCalls = 0 } = this.#cost(state) ?? { usd: 0 };
    return { used: assertCount('the cost', usd), max: this.raise(this.maxUsd, state), unknownCalls };
  }

  protected override describe({ used: currentUsd, max: maxUsd, unknownCalls = 0 }: LimitReading): LimitText {
    return {
      reason: `${roundUsd(currentUsd)} of ${roundUsd(maxUsd)} US dollars spent`,
      note: unknownCalls === 0 ? '' : `; the cost of ${countCalls(unknownCalls)} is not known`,
      context: { currentUsd, maxUsd, ...(unknownCalls > 0 && { unknownCalls }) },
    };
  }
}
