export type { ClassifiedErrorOptions } from './classified-error.ts';
export { ClassifiedError } from './classified-error.ts';
export { classifyError } from './classify-error.ts';
export type { CanResolveErrorContext } from './error-context.ts';
export { ErrorContext } from './error-context.ts';
export type { ErrorHandling } from './error-handling.ts';
export { isExhausted } from './error-handling.ts';
export { ErrorHandlingDecision } from './error-handling-decision.ts';
export { ErrorPolicy } from './error-policy.ts';
export { ErrorType, isErrorType } from './error-type.ts';
export type { Failure } from './failure.ts';
export { ModelFailedError } from './model-failed-error.ts';
export { RateLimitedError } from './rate-limited-error.ts';
export { TimedOutError } from './timed-out-error.ts';
export { ToolFailedError } from './tool-failed-error.ts';
export { ValidationFailedError } from './validation-failed-error.ts';
// Defined in lib/, because modules below errors/ throw them too.
export { DamagedDataError, InvalidArgumentError, SteplineError } from '../lib/index.ts';
