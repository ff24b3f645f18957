import { ClassifiedError, ErrorType } from '../errors/index.ts';

/** An answer broke off before its end. What had come is kept beside the failure. */
export class StreamInterruptedError extends ClassifiedError {
  override readonly name = 'StreamInterruptedError';
  readonly code = 'stream-interrupted';
  readonly type: ErrorType = ErrorType.Model;
}
