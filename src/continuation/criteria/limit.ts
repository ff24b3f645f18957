import type { JsonObject } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';
import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { LimitKind } from '../continuation-evaluation.ts';
import { AtLimit, ContinuationEvaluation, limitStopReasons } from '../continuation-evaluation.ts';
import type { Findings } from '../findings.ts';

/** Refuses a limit that could never mean anything. */
export function assertLimit(name: string, value: number, { least }: { readonly least: 'zero' | 'above-zero' }): number {
  const fits = Number.isFinite(value) && (least === 'zero' ? value >= 0 : value > 0);
  if (fits) return value;
  throw new InvalidArgumentError(
    `${name} must be a number ${least === 'zero' ? 'of 0 or more' : 'greater than 0'}, not ${describeValue(value)}.`,
  );
}

/** Refuses a count that is not a number: a limit compared with it would never be reached. */
export function assertCount(what: string, value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new InvalidArgumentError(`The function that reads ${what} must return a number, not ${describeValue(value)}.`);
}

/** Rounds seconds to one decimal. By hand: this runs at every step, and toFixed is slow. */
export const toTenths = (seconds: number): number => Math.round(seconds * 10) / 10;

/** Counts calls in words: "1 call", "2 calls". */
export const countCalls = (count: number): string => `${count} ${count === 1 ? 'call' : 'calls'}`;

/** Options of a limit besides its number. */
export interface LimitOptions<State> extends CriterionOptions {
  /** Amount granted on top of the limit, in the limit's own unit. Without it no grant raises this limit. @default nothing */
  readonly granted?: (state: State) => number;
  /** Action when the limit is reached on this state. @default 'stop' */
  readonly onLimit?: (state: State, findings: Findings) => AtLimit;
}

/** A limit compared with its count. */
export interface Comparison {
  readonly isReached: boolean;
  readonly reason: string;
  readonly context: JsonObject;
}

/** Base of the limits: they allow below the limit and forbid at or above it. */
export abstract class LimitCriterion<State> extends BuiltInCriterion<State> {
  protected abstract readonly limit: LimitKind;
  readonly #options: LimitOptions<State>;

  constructor(usualName: string, options: LimitOptions<State>) {
    super(usualName, options);
    this.#options = options;
  }

  protected abstract compare(state: State, findings: Findings): Comparison;

  override explain(state: State, findings: Findings = {}): ContinuationEvaluation {
    const { name: criterion, limit } = this;
    const { isReached, reason, context } = this.compare(state, findings);
    const { AllowContinuation, ForbidContinuation } = ContinuationDecision;
    const fields = { criterion, reason, limit, context };
    if (!isReached) return new ContinuationEvaluation({ ...fields, decision: AllowContinuation });
    const atLimit = this.#options.onLimit?.(state, findings) ?? AtLimit.Stop;
    const stopReason = limitStopReasons[limit];
    if (atLimit === AtLimit.Stop) return new ContinuationEvaluation({ ...fields, decision: ForbidContinuation, stopReason });
    const isPause = atLimit === AtLimit.Pause;
    return new ContinuationEvaluation({
      ...fields,
      atLimit,
      ...(isPause ? { decision: ForbidContinuation, stopReason } : { decision: AllowContinuation }),
      reason: `${reason}; ${isPause ? 'more has to be granted' : 'one more step to sum up'}`,
    });
  }

  /** The limit with the grants on top of it. */
  protected raise(limit: number, state: State): number {
    const { granted } = this.#options;
    return granted === undefined ? limit : limit + assertCount('what was granted', granted(state));
  }
}
