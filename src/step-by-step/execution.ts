// One execution: what happens between one outside input and the reason it ended.
// Owns:     its results, its usage, its clocks, the step that waits, and a start that was refused.
// Does not: hold messages, know the session, or decide anything.
// X1. Results are appended, never changed; steps, status and stop reason are read from them.
// X2. Active time, usage and failures start at 0 with each execution and survive pause and storage.
// X3. The wall clock starts with each run and each single step, and is never stored. While the process lives, no limit notices that the
//     machine's clock is set.
import type { ContinuationOutcome, LimitKind } from '../continuation/index.ts';
import { StopReason } from '../continuation/index.ts';
import type { Clock, JsonObject } from '../lib/index.ts';
import { AppendOnlyList } from '../lib/index.ts';
import type { Message } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { RecordedGrant } from './grant.ts';
import type { Cost, Step } from './step.ts';
import type { StepResult } from './step-result.ts';
import type { PendingStep } from './waiting.ts';
import { getOpenWaits } from './waiting.ts';

/** State of an execution. */
export const ExecutionStatus = {
  /** No run has started. */
  Pending: 'pending',
  InProgress: 'in_progress',
  /** Somebody has to act before it can continue. */
  Waiting: 'waiting',
  Completed: 'completed',
  /** A limit, a guard, a finish reason or a person ended it. */
  Stopped: 'stopped',
  Failed: 'failed',
} as const;
export type ExecutionStatus = (typeof ExecutionStatus)[keyof typeof ExecutionStatus];

const isClean = (step: Step | undefined): boolean =>
  step?.errors.length === 0 && step.interrupted === undefined && step.finalizing !== true;

/** True if the work was done although a limit was reached in the same step. */
export const isFinishedAtLimit = (outcome: ContinuationOutcome, step: Step | undefined): boolean =>
  isClean(step) && outcome.finishedAtLimit;

/** Returns the status after a judged step. `step` is absent for a start that was judged. */
export function toStatus(outcome: ContinuationOutcome, step: Step | undefined): ExecutionStatus {
  if (outcome.shouldContinue) return ExecutionStatus.InProgress;
  switch (outcome.stopReason) {
    case StopReason.Completed:
      return ExecutionStatus.Completed;
    case StopReason.ErrorForbade:
      return ExecutionStatus.Failed;
    case StopReason.RetryLimitReached:
      return step !== undefined && step.errors.length > 0 ? ExecutionStatus.Failed : ExecutionStatus.Stopped;
    default:
      return isFinishedAtLimit(outcome, step) ? ExecutionStatus.Completed : ExecutionStatus.Stopped;
  }
}

/** Facts about a step that ended the process each time it was resumed. */
export interface CrashLoop {
  /** Number of times that the step was resumed. */
  readonly attempts: number;
  /** Time at which it was given up. */
  readonly since: number;
}

/** A provider that was down when the open step was last tried. */
export interface Outage {
  /** Time of the first failure. */
  readonly since: number;
  /** Number of times that the step has waited since then. */
  readonly tries: number;
  /** Time that the failures in a row had spanned when the step waited. A clock that is set back does not make it less. */
  readonly spanMs?: number;
}

export interface Execution<S extends Step = Step> {
  /** Minted when the execution starts. */
  readonly id?: string | undefined;
  /** Counts from 1 in a session. */
  readonly number: number;
  readonly startedAt?: number | undefined;
  /** Start of the current run on the wall clock. */
  readonly wallStartedAt?: number | undefined;
  /** The same moment on the clock that never jumps. */
  readonly monotonicStartedAt?: number | undefined;
  readonly activeMs: number;
  /** Time spent on backoff and on permission to continue. */
  readonly waitedMs: number;
  readonly usage: Usage;
  /** Cost of the steps, if costs are tracked. */
  readonly cost?: Cost | undefined;
  /** Grants on top of the limits, oldest first. */
  readonly grants?: readonly RecordedGrant[] | undefined;
  /** True if more was granted since the last decision: until a step is recorded, a run judges its start again. */
  readonly regranted?: boolean | undefined;
  /** Reason why a grant was refused: the execution has ended at its limit. */
  readonly grantRefused?: string | undefined;
  /** Person who refused it, if known. */
  readonly grantRefusedBy?: string | undefined;
  readonly failedSteps: number;
  readonly results: AppendOnlyList<StepResult<S>>;
  /** The step being judged, on a state that is a candidate. Never stored. */
  readonly judgedStep?: S | undefined;
  /** Outcome of a start that was refused or could not be judged; kept until a step is recorded. */
  readonly startOutcome?: ContinuationOutcome | undefined;
  readonly pendingStep?: PendingStep<S> | undefined;
  /** Set if the open step is not resumed any more until somebody asks for it. */
  readonly crashLoop?: CrashLoop | undefined;
  /** Set while a step that waited for a provider is taken again, until it is recorded. */
  readonly outage?: Outage | undefined;
  /** User messages that arrived during the open step; they are added after that step. */
  readonly queued?: readonly Message[] | undefined;
  /** Agent that ran it: id, version, fingerprint. */
  readonly agent?: JsonObject | undefined;
  /** Agents that resumed it, if they differ from the one before. */
  readonly resumedBy?: readonly JsonObject[] | undefined;
}

export function createExecution<S extends Step>(number: number): Execution<S> {
  return { number, activeMs: 0, waitedMs: 0, usage: Usage.none(), failedSteps: 0, results: AppendOnlyList.empty() };
}

export const hasStarted = (execution: Execution): boolean => execution.id !== undefined;

/** Returns the time to judge by: the start of the run, and the time since then on the clock that never jumps. */
export function getJudgingTime({ wallStartedAt, monotonicStartedAt }: Execution, clock: Clock): number {
  if (wallStartedAt === undefined || monotonicStartedAt === undefined) return clock.now();
  return wallStartedAt + Math.max(0, Math.round(clock.monotonic() - monotonicStartedAt));
}

/** The outcome that stands: that of a start that was refused since, else the last step's. */
export const getLastOutcome = (execution: Execution): ContinuationOutcome | undefined =>
  execution.startOutcome ?? execution.results.last?.outcome;

const noGrants: readonly LimitKind[] = Object.freeze([]);

/** The limits that have to be raised before it can continue. */
export function getAwaitedGrants(execution: Execution): readonly LimitKind[] {
  if (execution.pendingStep !== undefined || execution.regranted === true || execution.grantRefused !== undefined) return noGrants;
  return getLastOutcome(execution)?.awaitedGrants ?? noGrants;
}

export function getStatus(execution: Execution): ExecutionStatus {
  if (!hasStarted(execution)) return ExecutionStatus.Pending;
  if (execution.crashLoop !== undefined) return ExecutionStatus.Waiting;
  if (execution.pendingStep !== undefined) {
    return getOpenWaits(execution.pendingStep).length > 0 ? ExecutionStatus.Waiting : ExecutionStatus.InProgress;
  }
  const outcome = getLastOutcome(execution);
  if (outcome === undefined || execution.regranted === true) return ExecutionStatus.InProgress;
  if (getAwaitedGrants(execution).length > 0) return ExecutionStatus.Waiting;
  return toStatus(outcome, execution.startOutcome === undefined ? execution.results.last?.step : undefined);
}

export function getStopReason(execution: Execution): StopReason | undefined {
  const outcome = getLastOutcome(execution);
  if (outcome === undefined || outcome.shouldContinue || execution.pendingStep !== undefined || execution.regranted === true)
    return undefined;
  return getAwaitedGrants(execution).length > 0 ? undefined : outcome.stopReason;
}

/** True once it has a reason to have ended. */
export const hasEnded = (execution: Execution): boolean => getStopReason(execution) !== undefined;

/** True if there is something to do: not ended, and, if it waits, with an answer or a grant to work on. */
export function canBegin({ execution }: { readonly execution: Execution }): boolean {
  const { pendingStep, crashLoop } = execution;
  if (crashLoop !== undefined) return false;
  if (pendingStep !== undefined) return pendingStep.answers.length > 0;
  return !hasEnded(execution) && getAwaitedGrants(execution).length === 0;
}

/** Returns the usage so far, including a waiting step. */
export const getUsage = ({ usage, pendingStep }: Execution): Usage =>
  pendingStep === undefined ? usage : Usage.add(usage, pendingStep.partial.usage);

/** The execution with one more result. */
export function withResult<S extends Step>(execution: Execution<S>, result: StepResult<S>): Execution<S> {
  const { step } = result;
  // Recorded steps never change, even if their producer keeps a reference.
  Object.freeze(step);
  Object.freeze(step.errors);
  Object.freeze(step.outputMessages);
  return {
    ...execution,
    judgedStep: undefined,
    startOutcome: undefined,
    regranted: undefined,
    crashLoop: undefined,
    outage: undefined,
    results: execution.results.append(result),
    failedSteps: execution.failedSteps + (step.errors.length === 0 ? 0 : 1),
  };
}
