import { LimitKind } from '../continuation-evaluation.ts';
import type { LimitOptions, LimitReading, LimitText } from './limit.ts';
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

  protected override read(state: State): LimitReading {
    return { used: assertCount('the active time', this.#cumulativeSeconds(state)), max: this.raise(this.maxSeconds, state) };
  }

  protected override describe({ used: cumulativeSeconds, max: maxSeconds }: LimitReading): LimitText {
    const reason = `${toTenths(cumulativeSeconds)} s of ${maxSeconds} s of active time used`;
    return { reason, context: { cumulativeSeconds, maxSeconds } };
  }
}
