import type { JsonObject } from '../../lib/index.ts';
import { assertNever, InvalidArgumentError } from '../../lib/index.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation, LimitKind } from '../continuation-evaluation.ts';
import type { StopReason } from '../stop-reason.ts';

/** Refuses a limit that could never mean anything. */
export function checkedLimit(name: string, value: number, { least }: { readonly least: 'zero' | 'above-zero' }): number {
  const fits = Number.isFinite(value) && (least === 'zero' ? value >= 0 : value > 0);
  if (fits) return value;
  throw new InvalidArgumentError(`${name} must be a number ${least === 'zero' ? 'of 0 or more' : 'greater than 0'}, not ${String(value)}.`);
}

/** Refuses a count that is none: a limit that compares with it would never be reached. */
export function checkedCount(what: string, value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new InvalidArgumentError(`the reader of ${what} must return a number, not ${String(value)}.`);
}

/** Seconds to one decimal. Rounded by hand: this runs at every step, and toFixed is slow. */
export const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;

/** What a limit does when it is reached: end the run, let it sum up in one more step, or wait until somebody grants more. */
export const AtLimit = { Stop: 'stop', Finalize: 'finalize', Pause: 'pause' } as const;
export type AtLimit = (typeof AtLimit)[keyof typeof AtLimit];

/** What a limit may be given beside its number. */
export interface LimitOptions<State> {
  /** What was granted on top of the limit, in the limit's own unit. @default nothing */
  readonly granted?: (state: State) => number;
  /** What reaching the limit means on this state. @default 'stop' */
  readonly onLimit?: (state: State) => AtLimit;
}

/** Base of the limits: they allow below and forbid at or above. */
export abstract class LimitCriterion<State> extends BuiltInCriterion<State> {
  protected abstract readonly stopReason: StopReason;
  protected abstract readonly limit: LimitKind;
  readonly #options: LimitOptions<State>;

  constructor(options: LimitOptions<State>) {
    super();
    this.#options = options;
  }

  /** The limit with what was granted on top of it. */
  protected raised(limit: number, state: State): number {
    const { granted } = this.#options;
    return granted === undefined ? limit : limit + checkedCount('what was granted', granted(state));
  }

  /** What there is to do about the limit on this state; undefined below it. */
  protected reached(isReached: boolean, state: State): AtLimit | undefined {
    return isReached ? (this.#options.onLimit?.(state) ?? AtLimit.Stop) : undefined;
  }

  protected answer(reached: AtLimit | undefined, reason: string, context: JsonObject): ContinuationEvaluation {
    const { name: criterion, stopReason, limit } = this;
    switch (reached) {
      case undefined:
        return { criterion, decision: ContinuationDecision.AllowContinuation, reason, limit, context };
      case AtLimit.Stop:
        return { criterion, decision: ContinuationDecision.ForbidContinuation, reason, stopReason, limit, context };
      case AtLimit.Pause:
        return {
          criterion,
          decision: ContinuationDecision.ForbidContinuation,
          reason: `${reason}; more has to be granted`,
          stopReason,
          limit,
          context: { ...context, pausing: true },
        };
      case AtLimit.Finalize:
        return {
          criterion,
          decision: ContinuationDecision.AllowContinuation,
          reason: `${reason}; one more step to sum up`,
          limit,
          context: { ...context, finalizing: true },
        };
      default:
        return assertNever(reached);
    }
  }
}
