import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { ErrorHandlingDecision, ErrorType } from '../errors/index.ts';
import type { Step } from './step.ts';

/** Start and durations of a step, in milliseconds. */
export interface StepTiming {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Time spent working. Counts toward the active limit. */
  readonly activeMs: number;
  /** Time spent waiting for rate limits and cool-downs. Counts on the wall clock only. */
  readonly waitedMs: number;
}

/** Error policy's handling of a failed step; the next failure continues its count. */
export interface RecordedHandling {
  readonly decision: ErrorHandlingDecision;
  readonly errorType: ErrorType;
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  /** Delay before the next attempt. */
  readonly delayMs?: number;
}

/** Place of a step in its execution, and its timing. */
export interface StepRecord {
  /** Counts from 1 in each execution. */
  readonly number: number;
  readonly timing: StepTiming;
  /** Present if the policy handled failures. */
  readonly handling?: RecordedHandling | undefined;
}

/** A step with the decision after it and its timing. The only record of history; it never changes. */
export class StepResult<S extends Step = Step> {
  /** Counts from 1 in each execution. */
  readonly number: number;
  readonly step: S;
  readonly outcome: ContinuationOutcome;
  readonly timing: StepTiming;
  /** Present if the policy handled failures. */
  declare readonly handling?: RecordedHandling;

  constructor(step: S, outcome: ContinuationOutcome, { number, timing, handling }: StepRecord) {
    this.number = number;
    this.step = step;
    this.outcome = outcome;
    this.timing = timing;
    if (handling !== undefined) this.handling = handling;
    Object.freeze(timing);
    Object.freeze(handling);
    Object.freeze(this);
  }

  get shouldContinue(): boolean {
    return this.outcome.shouldContinue;
  }

  /** Undefined while the run continues. */
  get stopReason(): StopReason | undefined {
    return this.outcome.stopReason;
  }
}
