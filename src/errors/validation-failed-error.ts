import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** An answer did not match the requested schema. */
export class ValidationFailedError extends ClassifiedError {
  override readonly name = 'ValidationFailedError';
  readonly code = 'validation-failed';
  readonly type: ErrorType = ErrorType.Validation;
}
