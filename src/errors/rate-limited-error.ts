import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** A provider asked to slow down; `retryAfterMs` is the wait that it asked for. */
export class RateLimitedError extends ClassifiedError {
  override readonly name = 'RateLimitedError';
  readonly code = 'rate-limited';
  readonly type: ErrorType = ErrorType.RateLimit;
}
