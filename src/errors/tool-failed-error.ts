import { ClassifiedError } from './classified-error.ts';
import { ErrorType } from './error-type.ts';

/** A tool call failed. */
export class ToolFailedError extends ClassifiedError {
  override readonly name = 'ToolFailedError';
  readonly code = 'tool-failed';
  readonly type: ErrorType = ErrorType.Tool;
}
