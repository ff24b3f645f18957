import type { StopReason } from '../continuation/index.ts';
import { ContinuationOutcome } from '../continuation/index.ts';
import type { ErrorHandlingDecision, ErrorType } from '../errors/index.ts';
import { describeValue, InvalidArgumentError, isRecord, latestTime, systemClock } from '../lib/index.ts';
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
  /** Counts from 1 in each execution. @default 0, until the result is recorded and gets the next number */
  readonly number?: number | undefined;
  /** @default now, without a duration */
  readonly timing?: StepTiming | undefined;
  /** Present if the policy handled failures. */
  readonly handling?: RecordedHandling | undefined;
}

function findTimingProblem(timing: unknown): string | undefined {
  if (!isRecord(timing)) return `timing must be an object, not ${describeValue(timing)}`;
  for (const name of ['startedAt', 'endedAt'])
    if (!(Math.abs(Number(timing[name])) <= latestTime) || typeof timing[name] !== 'number')
      return `timing.${name} must be milliseconds since 1970, not ${describeValue(timing[name])}`;
  for (const name of ['activeMs', 'waitedMs'])
    if (!(Number.isFinite(timing[name]) && Number(timing[name]) >= 0))
      return `timing.${name} must be a number of 0 or more, not ${describeValue(timing[name])}`;
  return undefined;
}

function findStepProblem(step: unknown): string | undefined {
  if (!isRecord(step)) return `the step must be an object, not ${describeValue(step)}`;
  if (typeof step['id'] !== 'string' || step['id'] === '') return `step.id must be a non-empty string, not ${describeValue(step['id'])}`;
  for (const name of ['outputMessages', 'errors'])
    if (!Array.isArray(step[name])) return `step.${name} must be a list, not ${describeValue(step[name])}`;
  return isRecord(step['usage']) ? undefined : `step.usage must be a Usage, not ${describeValue(step['usage'])}`;
}

const isOutcome = (given: unknown): boolean => given instanceof ContinuationOutcome;

/** Finds what is wrong with the parts of a result. */
function findProblem(step: unknown, outcome: unknown, { number, timing }: StepRecord): string | undefined {
  const problem = findStepProblem(step);
  if (problem !== undefined) return problem;
  if (!isOutcome(outcome)) return `the outcome must be a ContinuationOutcome, not ${describeValue(outcome)}`;
  if (number !== undefined && !(Number.isInteger(number) && number >= 0))
    return `number must be a whole number of 1 or more, not ${describeValue(number)}`;
  return timing === undefined ? undefined : findTimingProblem(timing);
}

function getNow(): StepTiming {
  const now = systemClock.now();
  return { startedAt: now, endedAt: now, activeMs: 0, waitedMs: 0 };
}

/** A step with the decision after it and its timing. The only record of history; it never changes. */
export class StepResult<S extends Step = Step> {
  /** Counts from 1 in each execution; 0 until the result is recorded, if it was created without a number. */
  readonly number: number;
  readonly step: S;
  readonly outcome: ContinuationOutcome;
  readonly timing: StepTiming;
  /** Present if the policy handled failures. */
  declare readonly handling?: RecordedHandling;

  constructor(step: S, outcome: ContinuationOutcome, record: StepRecord = {}) {
    const problem = findProblem(step, outcome, record);
    if (problem !== undefined) throw new InvalidArgumentError(`new StepResult(): ${problem}.`);
    const { number = 0, timing = getNow(), handling } = record;
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
