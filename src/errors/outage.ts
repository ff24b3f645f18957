import { ErrorType } from './error-type.ts';
import type { Failure } from './failure.ts';

// An empty answer is an answer: whoever gave it is not down.
const emptyAnswer = 'empty-response';

/** True for a failure of a provider that passes by itself: a rate limit, a time-out, a 5xx, a lost connection. */
export function isOutage({ type, code, retryable, toolName }: Failure): boolean {
  if (!retryable || toolName !== undefined) return false;
  return type === ErrorType.RateLimit || type === ErrorType.Timeout || (type === ErrorType.Model && code !== emptyAnswer);
}
