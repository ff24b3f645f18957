/** A policy's decision about a failure: end the run, try again, or continue as if it had not happened. */
export const ErrorHandlingDecision = { Stop: 'stop', Retry: 'retry', Ignore: 'ignore' } as const;
export type ErrorHandlingDecision = (typeof ErrorHandlingDecision)[keyof typeof ErrorHandlingDecision];
