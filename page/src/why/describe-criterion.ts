// Criteria in words, for those who have not read about them.

const words: Readonly<Record<string, string>> = {
  ToolCallPresenceCheck: 'the model',
  StepsLimit: 'the step limit',
  TokenUsageLimit: 'the token limit',
  ExecutionTimeLimit: 'the time limit',
  CumulativeExecutionTimeLimit: 'the limit of active time',
  CostLimit: 'the cost limit',
  StopRequested: 'a request to stop',
  ErrorPolicyCriterion: 'the error policy',
  PendingRetry: 'a pending retry',
  FinishReasonCheck: 'the finish reason of the model',
};

/** Names a criterion in words: the step limit (StepsLimit). One of the host's own has its own name only. */
export function describeCriterion(name: string): string {
  const known = words[name];
  return known === undefined ? name : `${known} (${name})`;
}
