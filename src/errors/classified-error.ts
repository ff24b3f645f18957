import { SteplineError } from '../lib/index.ts';
import type { ErrorType } from './error-type.ts';

/** What a classified error may say beside its message. */
export interface ClassifiedErrorOptions {
  readonly cause?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

/** An error that already knows its kind. Throw one of its subclasses to tell the policy what happened. */
export abstract class ClassifiedError extends SteplineError {
  abstract readonly type: ErrorType;
  readonly retryable: boolean;
  declare readonly retryAfterMs?: number;

  constructor(message: string, { cause, retryable = true, retryAfterMs }: ClassifiedErrorOptions = {}) {
    super(message, cause);
    this.retryable = retryable;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}
