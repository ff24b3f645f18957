import { describeGrants } from '../describe-evaluation.ts';
import type { JsonObject } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';
import type { Answer, CriterionOptions, UnreachedLimit } from '../built-in-criterion.ts';
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

/** Refuses a limit of something counted, such as steps, that is not a whole number. */
export function assertWholeLimit(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError(`${name} must be a whole number of 0 or more, not ${describeValue(value)}.`);
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
  /** People who granted it, if known. @default nobody is named */
  readonly grantedBy?: (state: State) => readonly string[];
  /** Action when the limit is reached on this state. @default 'stop' */
  readonly onLimit?: (state: State, findings: Findings) => AtLimit;
}

/** The two numbers that a limit compares. */
export interface LimitReading {
  readonly used: number;
  /** The limit, with the grants on top of it. */
  readonly max: number;
  /** Calls that could not be counted. */
  readonly unknownCalls?: number;
}

/** A reading in words, with its numbers under the names of its criterion. */
export interface LimitText {
  /** The two numbers: `4 of 4 steps used`. */
  readonly reason: string;
  /** Text about calls that could not be counted. */
  readonly note?: string;
  readonly context: JsonObject;
}

/** Base of the limits: they allow below the limit and forbid at or above it. */
export abstract class LimitCriterion<State> extends BuiltInCriterion<State> implements UnreachedLimit {
  protected abstract readonly limit: LimitKind;
  readonly #options: LimitOptions<State>;

  constructor(usualName: string, options: LimitOptions<State>) {
    super(usualName, options);
    this.#options = options;
  }

  /** Reads the numbers from a state. */
  protected abstract read(state: State, findings: Findings): LimitReading;

  /** Describes the numbers. */
  protected abstract describe(reading: LimitReading): LimitText;

  // Most steps are below the limit, and keep only the numbers.
  override judge(state: State, findings: Findings, numbers: number[]): Answer {
    // A subclass that overrides explain() is asked for its explanation.
    if (this.explain !== LimitCriterion.prototype.explain) return this.explain(state, findings);
    const { used, max, unknownCalls = 0 } = this.read(state, findings);
    const isPlain = used < max && unknownCalls === 0 && (this.#options.granted?.(state) ?? 0) === 0;
    if (!isPlain) return this.explain(state, findings);
    numbers.push(used, max);
    return this;
  }

  /** @internal Writes the evaluation of a limit that was not reached and not raised. */
  allow(used: number, max: number): ContinuationEvaluation {
    const { reason, context } = this.describe({ used, max });
    const { name: criterion, limit } = this;
    return new ContinuationEvaluation({ criterion, decision: ContinuationDecision.AllowContinuation, reason, limit, context });
  }

  override explain(state: State, findings: Findings = {}): ContinuationEvaluation {
    const { name: criterion, limit } = this;
    const reading = this.read(state, findings);
    const { used, max } = reading;
    const { reason: numbers, note = '', context: compared } = this.describe(reading);
    const isReached = used >= max;
    const { AllowContinuation, ForbidContinuation } = ContinuationDecision;
    const grants = this.#readGrants(state);
    const raised = grants === undefined ? '' : ` (${describeGrants({ max, ...grants })})`;
    const reason = `${numbers}${raised}${isReached ? ', limit reached' : ''}${note}`;
    const fields = { criterion, reason, limit, context: grants === undefined ? compared : { ...compared, ...grants } };
    if (!isReached) return new ContinuationEvaluation({ ...fields, decision: AllowContinuation });
    const atLimit = this.#options.onLimit?.(state, findings) ?? AtLimit.Stop;
    const stopReason = limitStopReasons[limit];
    if (atLimit === AtLimit.Stop) return new ContinuationEvaluation({ ...fields, decision: ForbidContinuation, stopReason });
    const isPause = atLimit === AtLimit.Pause;
    return new ContinuationEvaluation({
      ...fields,
      atLimit,
      ...(isPause ? { decision: ForbidContinuation, stopReason } : { decision: AllowContinuation }),
      reason: `${reason}; ${isPause ? 'waits for a grant' : 'one more step to sum up'}`,
    });
  }

  /** Amount that was granted, and by whom; undefined if there is none. */
  #readGrants(state: State): { readonly granted: number; readonly grantedBy?: readonly string[] } | undefined {
    const granted = this.#options.granted?.(state) ?? 0;
    if (granted === 0) return undefined;
    const grantedBy = this.#options.grantedBy?.(state) ?? [];
    return { granted, ...(grantedBy.length > 0 && { grantedBy }) };
  }

  /** The limit with the grants on top of it. */
  protected raise(limit: number, state: State): number {
    const { granted } = this.#options;
    return granted === undefined ? limit : limit + assertCount('what was granted', granted(state));
  }
}
