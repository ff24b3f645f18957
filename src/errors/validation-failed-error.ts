import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** An answer came, but not in the form that was asked for. */
export class ValidationFailedError extends ClassifiedError {
  override readonly name = 'ValidationFailedError';
  readonly code = 'validation-failed';
  readonly type: ErrorType = ErrorType.Validation;
}
