import type { JsonObject } from '../../lib/index.ts';
import { InvalidArgumentError } from '../../lib/index.ts';
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

/** Base of the limits: they allow below and forbid at or above. */
export abstract class LimitCriterion<State> extends BuiltInCriterion<State> {
  protected abstract readonly stopReason: StopReason;
  protected abstract readonly limit: LimitKind;

  protected answer(reached: boolean, reason: string, context: JsonObject): ContinuationEvaluation {
    const { name: criterion, stopReason, limit } = this;
    return reached
      ? { criterion, decision: ContinuationDecision.ForbidContinuation, reason, stopReason, limit, context }
      : { criterion, decision: ContinuationDecision.AllowContinuation, reason, limit, context };
  }
}
