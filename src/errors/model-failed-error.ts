import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** A model answered with an error, or not at all. */
export class ModelFailedError extends ClassifiedError {
  override readonly name = 'ModelFailedError';
  readonly code = 'model-failed';
  readonly type: ErrorType = ErrorType.Model;
}
