import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { ErrorHandlingDecision, ErrorType } from '../errors/index.ts';
import type { Step } from './step.ts';

/** When a step ran, and how its time was spent. Milliseconds. */
export interface StepTiming {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Time at work. Counts toward the active limit. */
  readonly activeMs: number;
  /** Time spent waiting for a provider's permission to go on. Counts on the wall clock only. */
  readonly waitedMs: number;
}

/** How the policy handled a failed step; the next failure counts on from here. */
export interface RecordedHandling {
  readonly decision: ErrorHandlingDecision;
  readonly errorType: ErrorType;
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  /** How long the run waits before it tries again. */
  readonly delayMs?: number;
}

interface StepResultFields<S extends Step> {
  readonly number: number;
  readonly step: S;
  readonly outcome: ContinuationOutcome;
  readonly timing: StepTiming;
  readonly handling?: RecordedHandling | undefined;
}

/** A step, what was decided after it, and when. The only store of history; once recorded it never changes. */
export class StepResult<S extends Step = Step> {
  /** Counts from 1 in each execution. */
  readonly number: number;
  readonly step: S;
  readonly outcome: ContinuationOutcome;
  readonly timing: StepTiming;
  /** Present where the policy was asked about failures. */
  declare readonly handling?: RecordedHandling;

  constructor(fields: StepResultFields<S>) {
    this.number = fields.number;
    this.step = fields.step;
    this.outcome = fields.outcome;
    this.timing = fields.timing;
    if (fields.handling !== undefined) this.handling = fields.handling;
    Object.freeze(fields.timing);
    Object.freeze(fields.handling);
    Object.freeze(this);
  }

  get shouldContinue(): boolean {
    return this.outcome.shouldContinue;
  }

  /** Undefined while the run goes on. */
  get stopReason(): StopReason | undefined {
    return this.outcome.stopReason;
  }
}
