import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** A provider asked us to slow down; `retryAfterMs` is the wait that it named. */
export class RateLimitedError extends ClassifiedError {
  override readonly name = 'RateLimitedError';
  readonly code = 'rate-limited';
  readonly type: ErrorType = ErrorType.RateLimit;
}
