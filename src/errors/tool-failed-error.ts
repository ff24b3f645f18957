import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** A tool could not do what it was called for. */
export class ToolFailedError extends ClassifiedError {
  override readonly name = 'ToolFailedError';
  readonly code = 'tool-failed';
  readonly type: ErrorType = ErrorType.Tool;
}
