import { LimitKind } from '../continuation-evaluation.ts';
import type { Comparison, LimitOptions } from './limit.ts';
import { assertCount, assertLimit, LimitCriterion, toTenths } from './limit.ts';

/** Forbids once the allowed time was spent in steps. A pause does not reset it; waiting does not count. */
export class CumulativeExecutionTimeLimit<State> extends LimitCriterion<State> {
  protected override readonly limit: LimitKind = LimitKind.Active;
  readonly maxSeconds: number;
  readonly #cumulativeSeconds: (state: State) => number;

  constructor(maxSeconds: number, cumulativeSeconds: (state: State) => number, options: LimitOptions<State> = {}) {
    super('CumulativeExecutionTimeLimit', options);
    this.maxSeconds = assertLimit('maxSeconds', maxSeconds, { least: 'above-zero' });
    this.#cumulativeSeconds = cumulativeSeconds;
  }

  remainingMs(state: State): number {
    return (this.raise(this.maxSeconds, state) - this.#cumulativeSeconds(state)) * 1000;
  }

  protected override compare(state: State): Comparison {
    const cumulativeSeconds = assertCount('the active time', this.#cumulativeSeconds(state));
    const maxSeconds = this.raise(this.maxSeconds, state);
    const reason = `${toTenths(cumulativeSeconds)} s of ${maxSeconds} s of active time used`;
    return { isReached: cumulativeSeconds >= maxSeconds, reason, max: maxSeconds, context: { cumulativeSeconds, maxSeconds } };
  }
}
