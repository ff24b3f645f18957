/** Reason why a run ended, for programs. The trace explains it for people. */
export const StopReason = {
  /** No more work was requested. */
  Completed: 'completed',
  StepsLimitReached: 'steps_limit',
  TokenLimitReached: 'token_limit',
  TimeLimitReached: 'time_limit',
  /** A failure was retried as often as allowed. */
  RetryLimitReached: 'retry_limit',
  /** A failure that the policy does not retry. */
  ErrorForbade: 'error',
  FinishReasonReceived: 'finish_reason',
  /** A criterion of the host's own, the cost limit, or the guard against repeated calls; `resolvedBy` says which. */
  GuardForbade: 'guard',
  UserRequested: 'user_requested',
} as const;
export type StopReason = (typeof StopReason)[keyof typeof StopReason];

const known: ReadonlySet<unknown> = new Set(Object.values(StopReason));

/** True for one of the nine wire values. */
export const isStopReason = (value: unknown): value is StopReason => known.has(value);
