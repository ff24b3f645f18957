import type { ContinuationEvaluation, ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { ErrorType, Failure } from '../errors/index.ts';
import type { EventHeader } from '../events/index.ts';
import { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { Message, Usage } from '../messages/index.ts';
import type { ExecutionStatus } from './execution.ts';
import type { Interruption } from './step.ts';
import { findSpokenMessage } from './step.ts';
import type { StepResult } from './step-result.ts';
import type { Wait } from './waiting.ts';

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
}

/** Facts known when a step starts. */
export interface StepStartFacts {
  readonly messageCount: number;
  /** True if a process ended in the step before. */
  readonly resumed: boolean;
  /** Number of the attempt at the step. */
  readonly attempt: number;
  /** Names of the tools that the model is offered, unless a hook leaves only some. */
  readonly tools: readonly string[];
}

export class AgentStepStarted extends OrchestratorEvent {
  readonly type = 'AgentStepStarted';
  readonly messageCount: number;
  /** True if an earlier process ended in this step. */
  declare readonly resumed?: true;
  /** Number of the attempt at the step, if it is not the first. */
  declare readonly attempt?: number;
  /** Names of the tools that the model is offered, unless a hook leaves only some. */
  readonly tools: readonly string[];

  constructor(header: EventHeader, orchestrator: string, { messageCount, resumed, attempt, tools }: StepStartFacts) {
    super(header, orchestrator);
    this.messageCount = messageCount;
    if (resumed) this.resumed = true;
    if (attempt > 1) this.attempt = attempt;
    this.tools = tools;
  }
}

/** The decision to continue or stop: once per recorded step, and once for a refused start. */
export class ContinuationEvaluated extends OrchestratorEvent {
  readonly type = 'ContinuationEvaluated';
  readonly shouldContinue: boolean;
  /** Null if the run continues. */
  readonly stopReason: StopReason | null;
  /** The criterion that decided. */
  readonly resolvedBy: string;
  readonly outcome: ContinuationOutcome;
  /** Failures of the step that was judged; absent if nothing failed. */
  declare readonly errors?: readonly Failure[];

  // eslint-disable-next-line @typescript-eslint/max-params -- one is made for every step; a fourth argument costs less than a bag
  constructor(header: EventHeader, orchestrator: string, outcome: ContinuationOutcome, errors: readonly Failure[] = []) {
    super(header, orchestrator);
    this.shouldContinue = outcome.shouldContinue;
    this.stopReason = outcome.stopReason ?? null;
    this.resolvedBy = outcome.resolvedBy;
    this.outcome = outcome;
    if (errors.length > 0) this.errors = errors;
  }
}

/** Facts about a state that has changed. */
export interface UpdateFacts {
  readonly status: ExecutionStatus;
  readonly stepCount: number;
  /** The assistant's message of a step that waits. */
  readonly message?: Message | undefined;
}

export class AgentStateUpdated extends OrchestratorEvent {
  readonly type = 'AgentStateUpdated';
  readonly status: ExecutionStatus;
  readonly stepCount: number;
  /** Text of the assistant so far, if its step waits. The event that completes the step has it too, under the same `messageId`. */
  declare readonly text?: string;
  declare readonly messageId?: string;

  constructor(header: EventHeader, orchestrator: string, { status, stepCount, message }: UpdateFacts) {
    super(header, orchestrator);
    this.status = status;
    this.stepCount = stepCount;
    if (message === undefined) return;
    this.text = message.text;
    this.messageId = message.id;
  }
}

const noMessages: readonly string[] = Object.freeze([]);

export class AgentStepCompleted extends OrchestratorEvent {
  readonly type = 'AgentStepCompleted';
  readonly hasToolCalls: boolean;
  readonly errorCount: number;
  readonly errorMessages: readonly string[];
  readonly usage: Usage;
  declare readonly finishReason?: string;
  declare readonly interrupted?: Interruption;
  readonly durationMs: number;
  /** Text of the assistant for readers; empty if there is none. */
  readonly text: string;
  /** Id of the message with that text. */
  declare readonly messageId?: string;
  /** True if the run continues after the step. */
  readonly shouldContinue: boolean;
  /** Null if the run continues. */
  readonly stopReason: StopReason | null;
  /** The criterion that decided. */
  readonly resolvedBy: string;

  constructor(header: EventHeader, orchestrator: string, { step, outcome, timing }: Pick<StepResult, 'step' | 'outcome' | 'timing'>) {
    super(header, orchestrator);
    this.hasToolCalls = step.hasToolCalls === true;
    this.errorCount = step.errors.length;
    this.errorMessages = step.errors.length === 0 ? noMessages : step.errors.map(({ message }) => message);
    this.usage = step.usage;
    if (step.finishReason !== undefined) this.finishReason = step.finishReason;
    if (step.interrupted !== undefined) this.interrupted = step.interrupted;
    this.durationMs = timing.activeMs + timing.waitedMs;
    const message = findSpokenMessage(step);
    this.text = message?.text ?? '';
    if (message !== undefined) this.messageId = message.id;
    this.shouldContinue = outcome.shouldContinue;
    this.stopReason = outcome.stopReason ?? null;
    this.resolvedBy = outcome.resolvedBy;
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
}

/** Facts known when a retry is scheduled. */
export interface RetryFacts {
  readonly delayMs: number;
  readonly errorType: ErrorType;
  /** Number of failed attempts in a row. */
  readonly failures: number;
  /** Message of the failure. */
  readonly message: string;
  /** Number of attempts that the policy allows; absent if something else decides. */
  readonly maxRetries?: number | undefined;
}

/** The run waits before the next attempt. */
export class RetryScheduled extends OrchestratorEvent {
  readonly type = 'RetryScheduled';
  readonly delayMs: number;
  readonly errorType: ErrorType;
  readonly failures: number;
  readonly message: string;
  declare readonly maxRetries?: number;

  constructor(header: EventHeader, orchestrator: string, facts: RetryFacts) {
    super(header, orchestrator);
    this.delayMs = facts.delayMs;
    this.errorType = facts.errorType;
    this.failures = facts.failures;
    this.message = facts.message;
    if (facts.maxRetries !== undefined) this.maxRetries = facts.maxRetries;
  }
}

type WithoutArgs<Each> = Each extends unknown ? Omit<Each, 'args'> : never;

/** Something that a run waits for, without the arguments of the call: the event that asks has them. */
export type EventWait = WithoutArgs<Wait>;

/** Returns a wait without the arguments of its call. */
export function toEventWait(wait: Wait): EventWait {
  if (!('args' in wait)) return wait;
  const { args: _, ...rest } = wait;
  return rest;
}

/** A grant that somebody refused. */
export interface RefusedGrant {
  readonly reason: string;
  /** Person who refused it, if known. */
  readonly by?: string;
}

/** Facts about the end of a run. */
export interface EndFacts {
  readonly status: ExecutionStatus;
  readonly stopReason?: StopReason | undefined;
  readonly resolvedBy?: string | undefined;
  /** Evaluation of the criterion that decided. */
  readonly decisive?: ContinuationEvaluation | undefined;
  readonly stepCount: number;
  readonly usage: Usage;
  readonly errors: readonly Failure[];
  /** Empty if the run does not wait. */
  readonly waitingFor: readonly EventWait[];
  /** Present if the run waited at a limit that nobody raised. */
  readonly grantRefused?: RefusedGrant | undefined;
}

/** Fields of an event about the end of a run that the criterion which decided has given. */
export function toDecisiveFields({
  reason,
  context,
}: Pick<ContinuationEvaluation, 'reason' | 'context'>): Pick<EndEvent, 'reason' | 'context'> {
  return Object.keys(context).length === 0 ? { reason } : { reason, context };
}

/** Base of the events that end a run. */
abstract class EndEvent extends OrchestratorEvent {
  readonly status: ExecutionStatus;
  /** Absent if the run waits. */
  declare readonly stopReason?: StopReason;
  declare readonly resolvedBy?: string;
  /** Reason of the criterion that decided; absent if the run waits. */
  declare readonly reason?: string;
  /** Numbers of the criterion that decided; absent if it has none. */
  declare readonly context?: JsonObject;
  readonly stepCount: number;
  readonly usage: Usage;
  /** Failures of the last step. */
  readonly errors: readonly Failure[];

  constructor(header: EventHeader, orchestrator: string, facts: EndFacts) {
    super(header, orchestrator);
    this.status = facts.status;
    if (facts.stopReason !== undefined) this.stopReason = facts.stopReason;
    if (facts.resolvedBy !== undefined) this.resolvedBy = facts.resolvedBy;
    if (facts.decisive !== undefined) Object.assign(this, toDecisiveFields(facts.decisive));
    this.stepCount = facts.stepCount;
    this.usage = facts.usage;
    this.errors = facts.errors;
  }
}

/** The run failed; AgentFinished follows. */
export class AgentFailed extends EndEvent {
  readonly type = 'AgentFailed';
}

/** The run has ended or waits. Always the last event of a run; a run with nothing to do emits nothing. */
export class AgentFinished extends EndEvent {
  readonly type = 'AgentFinished';
  /** Its waits; absent if it does not wait. */
  declare readonly waitingFor?: readonly EventWait[];
  /** Refusal to raise the limit that it waited at; absent if there is none. */
  declare readonly grantRefused?: RefusedGrant;

  constructor(header: EventHeader, orchestrator: string, facts: EndFacts) {
    super(header, orchestrator, facts);
    if (facts.waitingFor.length > 0) this.waitingFor = facts.waitingFor;
    if (facts.grantRefused !== undefined) this.grantRefused = facts.grantRefused;
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
