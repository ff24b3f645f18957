import { checkKeys, describeValue, InvalidArgumentError } from '../lib/index.ts';
import type { ErrorContext } from './error-context.ts';
import { ErrorType } from './error-type.ts';

/** Waits before retries. Each wait is drawn at random between half of a ceiling and the ceiling, which grows with each failure. */
export interface Backoff {
  /** Ceiling of the first wait. @default 1000 */
  readonly baseMs: number;
  /** Growth of the ceiling with each failure. @default 2 */
  readonly factor: number;
  /** Highest ceiling. @default 30_000 */
  readonly capMs: number;
  /** Longest wait that a provider may ask for (Retry-After); a longer one is not waited for. @default 60_000 */
  readonly longestRetryAfterMs: number;
}

export const defaultBackoff: Backoff = Object.freeze({ baseMs: 1000, factor: 2, capMs: 30_000, longestRetryAfterMs: 60_000 });

/** Fills in the defaults and refuses figures that cannot be waited for. */
export function createBackoff(options: Partial<Backoff>): Backoff {
  checkKeys('backoff', options, Object.keys(defaultBackoff));
  const backoff = { ...defaultBackoff, ...options };
  for (const [name, value] of Object.entries(backoff)) {
    if (!Number.isFinite(value) || value < 0)
      throw new InvalidArgumentError(`backoff.${name} must be a number of 0 or more, not ${describeValue(value)}.`);
  }
  return backoff;
}

/**
 * True if a retry waits first. Failures of tools and of validation are retried at once: the model reads what went wrong and does it
 * differently, so waiting would not help.
 */
export function needsWait({ type, toolName }: Pick<ErrorContext, 'type' | 'toolName'>): boolean {
  if (type === ErrorType.Timeout) return toolName === undefined;
  return type !== ErrorType.Tool && type !== ErrorType.Validation;
}

/** Draws the wait after this many failures in a row. `random` returns a number from 0 up to 1. */
export function drawWaitMs(backoff: Pick<Backoff, 'baseMs' | 'factor' | 'capMs'>, failures: number, random: () => number): number {
  // Kept finite: 0 times infinity is not a number.
  const growth = Math.min(Number.MAX_VALUE, backoff.factor ** Math.max(0, failures - 1));
  const ceiling = Math.min(backoff.capMs, backoff.baseMs * growth);
  return Math.floor((ceiling * (1 + random())) / 2);
}

/** Returns the wait before the retry of one failure: what the provider asked for, else a random one. */
export function backoffMs(backoff: Backoff, context: ErrorContext, random: () => number): number {
  if (context.retryAfterMs !== undefined) return context.retryAfterMs;
  return needsWait(context) ? drawWaitMs(backoff, context.consecutiveFailures, random) : 0;
}

/** The bound that a provider's wait (Retry-After) exceeds. */
export interface ExceededBound {
  /** `longest-wait`: the policy's `backoff.longestRetryAfterMs`. `time-left`: the rest of the time limit. */
  readonly bound: 'longest-wait' | 'time-left';
  readonly boundMs: number;
}

/** Finds the bound that forbids to wait as long as the provider asks; the smaller one if both do. Undefined if there is none. */
export function findExceededBound(backoff: Backoff, { retryAfterMs, remainingMs = Infinity }: ErrorContext): ExceededBound | undefined {
  const exceeded: ExceededBound =
    remainingMs < backoff.longestRetryAfterMs
      ? { bound: 'time-left', boundMs: remainingMs }
      : { bound: 'longest-wait', boundMs: backoff.longestRetryAfterMs };
  return retryAfterMs !== undefined && retryAfterMs > exceeded.boundMs ? exceeded : undefined;
}
