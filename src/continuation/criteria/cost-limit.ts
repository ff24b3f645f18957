import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { LimitKind } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';
import type { LimitOptions } from './limit.ts';
import { checkedCount, checkedLimit, LimitCriterion } from './limit.ts';

/** What calls have cost so far, as far as it is known. */
export interface CostSoFar {
  readonly usd: number;
  /** Calls whose price or usage is not known; what they cost is not in `usd`. */
  readonly unknownCalls?: number;
}

const cents = (usd: number): number => Math.round(usd * 10_000) / 10_000;

/** Forbids when as much was spent as is allowed. What is not known is not counted, and it says so. Judged after a step. */
export class CostLimit<State> extends LimitCriterion<State> {
  override readonly name = 'CostLimit';
  protected override readonly stopReason: StopReason = StopReason.GuardForbade;
  protected override readonly limit: LimitKind = LimitKind.Cost;
  readonly maxUsd: number;
  readonly #cost: (state: State) => CostSoFar | undefined;

  constructor(maxUsd: number, cost: (state: State) => CostSoFar | undefined, options: LimitOptions<State> = {}) {
    super(options);
    this.maxUsd = checkedLimit('maxUsd', maxUsd, { least: 'zero' });
    this.#cost = cost;
  }

  override explain(state: State): ContinuationEvaluation {
    const { usd, unknownCalls = 0 } = this.#cost(state) ?? { usd: 0 };
    const currentUsd = checkedCount('the cost', usd);
    const maxUsd = this.raised(this.maxUsd, state);
    const unknown = unknownCalls === 0 ? '' : `; what ${unknownCalls} ${unknownCalls === 1 ? 'call' : 'calls'} cost is not known`;
    return this.answer(this.reached(currentUsd >= maxUsd, state), `${cents(currentUsd)} of ${cents(maxUsd)} US dollars spent${unknown}`, {
      currentUsd,
      maxUsd,
      ...(unknownCalls > 0 && { unknownCalls }),
    });
  }
}
