import { InvalidArgumentError } from '../lib/index.ts';
import type { ErrorContext } from './error-context.ts';
import { ErrorType } from './error-type.ts';

/** How long to wait before a retry. The wait is drawn at random below a ceiling that grows with each failure. */
export interface Backoff {
  /** Ceiling of the first wait. @default 500 */
  readonly baseMs: number;
  /** How the ceiling grows. @default 2 */
  readonly factor: number;
  /** The ceiling never grows above this. @default 30_000 */
  readonly capMs: number;
  /** A provider that asks for a longer wait than this is not waited for. @default 60_000 */
  readonly longestRetryAfterMs: number;
}

export const defaultBackoff: Backoff = Object.freeze({ baseMs: 500, factor: 2, capMs: 30_000, longestRetryAfterMs: 60_000 });

/** Fills in the defaults and refuses figures that cannot be waited for. */
export function createBackoff(options: Partial<Backoff>): Backoff {
  const backoff = { ...defaultBackoff, ...options };
  for (const [name, value] of Object.entries(backoff)) {
    if (!Number.isFinite(value) || value < 0) {
      throw new InvalidArgumentError(`Backoff ${name} must be a number of 0 or more, not ${String(value)}.`);
    }
  }
  return backoff;
}

// The model reads what went wrong and does it differently: waiting would help nobody.
function retriesAtOnce({ type, toolName }: ErrorContext): boolean {
  return type === ErrorType.Tool || type === ErrorType.Validation || (type === ErrorType.Timeout && toolName !== undefined);
}

/** The wait before the retry of one failure. `random` returns a number from 0 up to 1. */
export function backoffMs(backoff: Backoff, context: ErrorContext, random: () => number): number {
  if (context.retryAfterMs !== undefined) return context.retryAfterMs;
  if (retriesAtOnce(context)) return 0;
  // Kept finite: a base of 0 times infinity would be no number.
  const growth = Math.min(Number.MAX_VALUE, backoff.factor ** Math.max(0, context.consecutiveFailures - 1));
  const ceiling = Math.min(backoff.capMs, backoff.baseMs * growth);
  return Math.floor(random() * ceiling);
}

/** True where the provider asks for a wait that is longer than we give, or than there is time. */
export function waitsTooLong(backoff: Backoff, { retryAfterMs, remainingMs }: ErrorContext): boolean {
  if (retryAfterMs === undefined) return false;
  return retryAfterMs > backoff.longestRetryAfterMs || (remainingMs !== undefined && retryAfterMs > remainingMs);
}
