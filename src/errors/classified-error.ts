import { SteplineError } from '../lib/index.ts';
import type { ErrorType } from './error-type.ts';

/** Facts about a classified error besides its message. */
export interface ClassifiedErrorOptions {
  readonly cause?: unknown;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  /** The tool that failed, for a policy that has a rule for it. */
  readonly toolName?: string;
}

/** An error that already knows its kind. Throw one of its subclasses to tell the policy what happened. */
export abstract class ClassifiedError extends SteplineError {
  abstract readonly type: ErrorType;
  readonly retryable: boolean;
  declare readonly retryAfterMs?: number;
  declare readonly toolName?: string;

  constructor(message: string, { cause, retryable = true, retryAfterMs, toolName }: ClassifiedErrorOptions = {}) {
    super(message, cause);
    this.retryable = retryable;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (toolName !== undefined) this.toolName = toolName;
  }
}
