/** Kind of failure; the policy decides by this and by nothing else. */
export const ErrorType = {
  Tool: 'tool',
  Model: 'model',
  Validation: 'validation',
  RateLimit: 'rate_limit',
  Timeout: 'timeout',
  Unknown: 'unknown',
} as const;
export type ErrorType = (typeof ErrorType)[keyof typeof ErrorType];

const known: ReadonlySet<unknown> = new Set(Object.values(ErrorType));

/** True for one of the six wire values. */
export const isErrorType = (value: unknown): value is ErrorType => known.has(value);
