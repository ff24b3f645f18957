import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { ErrorType, Failure } from '../errors/index.ts';
import type { EventHeader } from '../events/index.ts';
import { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { pluralize, defaultRedactor } from '../lib/index.ts';
import type { Usage } from '../messages/index.ts';
import type { ExecutionStatus } from './execution.ts';
import type { Interruption, Step } from './step.ts';

/** Base of the events that orchestrators emit: the loop's own, and those of each module. */
export abstract class OrchestratorEvent extends BaseEvent {
  /** Kind of orchestrator that ran the step. */
  readonly orchestrator: string;

  constructor(header: EventHeader, orchestrator: string) {
    super(header);
    this.orchestrator = orchestrator;
  }
}

/** Facts known when a run starts. */
export interface StartFacts {
  readonly resumed: boolean;
  readonly messageCount: number;
  readonly agent?: JsonObject | undefined;
}

/** A run has started or was resumed. */
export class AgentExecutionStarted extends OrchestratorEvent {
  readonly type = 'AgentExecutionStarted';
  readonly resumed: boolean;
  readonly messageCount: number;
  /** Id, version and fingerprint of the agent that runs it. */
  declare readonly agent?: JsonObject;

  constructor(header: EventHeader, orchestrator: string, facts: StartFacts) {
    super(header, orchestrator);
    this.resumed = facts.resumed;
    this.messageCount = facts.messageCount;
    if (facts.agent !== undefined) this.agent = facts.agent;
  }

  describe(): string {
    return `${this.resumed ? 'resumed' : 'started'} with ${pluralize(this.messageCount, 'message')}`;
  }
}

export class AgentStepStarted extends OrchestratorEvent {
  readonly type = 'AgentStepStarted';
  readonly messageCount: number;

  constructor(header: EventHeader, orchestrator: string, messageCount: number) {
    super(header, orchestrator);
    this.messageCount = messageCount;
  }

  describe(): string {
    return `began with ${pluralize(this.messageCount, 'message')}`;
  }
}

/** The decision to continue or stop: once per recorded step, and once for a refused start. */
export class ContinuationEvaluated extends OrchestratorEvent {
  readonly type = 'ContinuationEvaluated';
  readonly outcome: ContinuationOutcome;

  constructor(header: EventHeader, orchestrator: string, outcome: ContinuationOutcome) {
    super(header, orchestrator);
    this.outcome = outcome;
  }

  get shouldContinue(): boolean {
    return this.outcome.shouldContinue;
  }
  get stopReason(): StopReason | undefined {
    return this.outcome.stopReason;
  }
  get resolvedBy(): string {
    return this.outcome.resolvedBy;
  }

  describe(): string {
    const { outcome } = this;
    return outcome.shouldContinue
      ? `CONTINUE (requested by ${outcome.resolvedBy})`
      : `STOP (${outcome.stopReason}, by ${outcome.resolvedBy})`;
  }
}

export class AgentStateUpdated extends OrchestratorEvent {
  readonly type = 'AgentStateUpdated';
  readonly status: ExecutionStatus;
  readonly stepCount: number;

  constructor(header: EventHeader, orchestrator: string, facts: { readonly status: ExecutionStatus; readonly stepCount: number }) {
    super(header, orchestrator);
    this.status = facts.status;
    this.stepCount = facts.stepCount;
  }

  describe(): string {
    return `${this.status} after ${pluralize(this.stepCount, 'step')}`;
  }
}

export class AgentStepCompleted extends OrchestratorEvent {
  readonly type = 'AgentStepCompleted';
  readonly hasToolCalls: boolean;
  readonly errorCount: number;
  readonly errorMessages: readonly string[];
  readonly usage: Usage;
  declare readonly finishReason?: string;
  declare readonly interrupted?: Interruption;
  readonly durationMs: number;

  // eslint-disable-next-line @typescript-eslint/max-params -- one is made for every step; a fourth argument costs less than a bag
  constructor(header: EventHeader, orchestrator: string, step: Step, durationMs: number) {
    super(header, orchestrator);
    this.hasToolCalls = step.hasToolCalls === true;
    this.errorCount = step.errors.length;
    this.errorMessages = step.errors.map(({ message }) => message);
    this.usage = step.usage;
    if (step.finishReason !== undefined) this.finishReason = step.finishReason;
    if (step.interrupted !== undefined) this.interrupted = step.interrupted;
    this.durationMs = durationMs;
  }

  describe(): string {
    const errors = this.errorCount === 0 ? '' : `, ${this.errorCount} failed: ${defaultRedactor.text(this.errorMessages.join('; '))}`;
    const interrupted = this.interrupted === undefined ? '' : `, interrupted (${this.interrupted})`;
    return `ended after ${Math.round(this.durationMs)} ms${errors}${interrupted}`;
  }
}

export class TokenUsageReported extends OrchestratorEvent {
  readonly type = 'TokenUsageReported';
  readonly operation = 'step';
  readonly usage: Usage;

  constructor(header: EventHeader, orchestrator: string, usage: Usage) {
    super(header, orchestrator);
    this.usage = usage;
  }

  describe(): string {
    return `used ${this.usage.total} tokens (${this.usage.input} in, ${this.usage.output} out)`;
  }
}

/** Facts known when a retry is scheduled. */
export interface RetryFacts {
  readonly delayMs: number;
  readonly errorType: ErrorType;
  /** Number of failed attempts in a row. */
  readonly failures: number;
}

/** The run waits before the next attempt. */
export class RetryScheduled extends OrchestratorEvent {
  readonly type = 'RetryScheduled';
  readonly delayMs: number;
  readonly errorType: ErrorType;
  readonly failures: number;

  constructor(header: EventHeader, orchestrator: string, facts: RetryFacts) {
    super(header, orchestrator);
    this.delayMs = facts.delayMs;
    this.errorType = facts.errorType;
    this.failures = facts.failures;
  }

  describe(): string {
    return `waits ${Math.round(this.delayMs)} ms after ${pluralize(this.failures, 'failure')} in a row (${this.errorType})`;
  }
}

/** Facts about the end of a run. */
export interface EndFacts {
  readonly status: ExecutionStatus;
  readonly stopReason?: StopReason | undefined;
  readonly resolvedBy?: string | undefined;
  readonly stepCount: number;
  readonly usage: Usage;
  readonly errors: readonly Failure[];
}

/** Base of the events that end a run. */
abstract class EndEvent extends OrchestratorEvent {
  readonly status: ExecutionStatus;
  /** Absent if the run waits. */
  declare readonly stopReason?: StopReason;
  declare readonly resolvedBy?: string;
  readonly stepCount: number;
  readonly usage: Usage;
  /** Failures of the last step. */
  readonly errors: readonly Failure[];

  constructor(header: EventHeader, orchestrator: string, facts: EndFacts) {
    super(header, orchestrator);
    this.status = facts.status;
    if (facts.stopReason !== undefined) this.stopReason = facts.stopReason;
    if (facts.resolvedBy !== undefined) this.resolvedBy = facts.resolvedBy;
    this.stepCount = facts.stepCount;
    this.usage = facts.usage;
    this.errors = facts.errors;
  }
}

/** The run failed; AgentFinished follows. */
export class AgentFailed extends EndEvent {
  readonly type = 'AgentFailed';

  describe(): string {
    const error = this.errors[0];
    const what = error === undefined ? 'no step failed' : `${error.code}: ${defaultRedactor.text(error.message)}`;
    return `failed (${this.stopReason ?? 'error'}): ${what}`;
  }
}

/** The run has ended or waits. Always the last event of a run; a run with nothing to do emits nothing. */
export class AgentFinished extends EndEvent {
  readonly type = 'AgentFinished';

  describe(): string {
    const why = this.stopReason === undefined ? '' : ` (${this.stopReason}, by ${this.resolvedBy ?? 'nobody'})`;
    return `${this.status} after ${pluralize(this.stepCount, 'step')}${why}`;
  }
}

/** Every event that the loop itself emits. */
export type LoopEvent =
  | AgentExecutionStarted
  | AgentStepStarted
  | ContinuationEvaluated
  | AgentStateUpdated
  | AgentStepCompleted
  | TokenUsageReported
  | RetryScheduled
  | AgentFailed
  | AgentFinished;
