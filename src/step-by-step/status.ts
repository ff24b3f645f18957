import type { ContinuationOutcome } from '../continuation/index.ts';
import { StopReason } from '../continuation/index.ts';
import type { Step } from './step.ts';

/** Where an execution stands. */
export const ExecutionStatus = {
  /** No run has begun. */
  Pending: 'pending',
  InProgress: 'in_progress',
  /** A person has to act before it can go on. */
  Waiting: 'waiting',
  Completed: 'completed',
  /** A limit, a guard, a finish reason or a person ended it. */
  Stopped: 'stopped',
  Failed: 'failed',
} as const;
export type ExecutionStatus = (typeof ExecutionStatus)[keyof typeof ExecutionStatus];

const isClean = (step: Step | undefined): boolean =>
  step?.errors.length === 0 && step.interrupted === undefined && step.finalizing !== true;

/** True where the work was done although a limit was reached in the same step. */
export const finishedAtLimit = (outcome: ContinuationOutcome, step: Step | undefined): boolean => isClean(step) && outcome.finishedAtLimit;

/** The status that a judged step leaves behind. `step` is absent for a start that was judged. */
export function statusAfter(outcome: ContinuationOutcome, step: Step | undefined): ExecutionStatus {
  if (outcome.shouldContinue) return ExecutionStatus.InProgress;
  switch (outcome.stopReason) {
    case StopReason.Completed:
      return ExecutionStatus.Completed;
    case StopReason.ErrorForbade:
      return ExecutionStatus.Failed;
    case StopReason.RetryLimitReached:
      return step !== undefined && step.errors.length > 0 ? ExecutionStatus.Failed : ExecutionStatus.Stopped;
    default:
      return finishedAtLimit(outcome, step) ? ExecutionStatus.Completed : ExecutionStatus.Stopped;
  }
}
