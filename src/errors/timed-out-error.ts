import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** Something took longer than its time limit. */
export class TimedOutError extends ClassifiedError {
  override readonly name = 'TimedOutError';
  readonly code = 'timed-out';
  readonly type: ErrorType = ErrorType.Timeout;
}
