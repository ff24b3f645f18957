import type { ClassifiedErrorOptions } from '../errors/index.ts';
import { ClassifiedError, ErrorType } from '../errors/index.ts';

/** The messages are longer than the model can read. Asking again with the same messages cannot help. */
export class ContextOverflowError extends ClassifiedError {
  override readonly name = 'ContextOverflowError';
  readonly code = 'context-overflow';
  readonly type: ErrorType = ErrorType.Model;

  constructor(message: string, options: ClassifiedErrorOptions = {}) {
    super(message, { retryable: false, ...options });
  }
}
