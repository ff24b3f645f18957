import type { Failure } from '../errors/index.ts';
import type { BaseEvent, EventHeader } from '../events/index.ts';
import type { HookApplied, HookReported, ToolCallBlocked } from '../hooks/index.ts';
import type { Json } from '../lib/index.ts';
import { pluralize, defaultRedactor } from '../lib/index.ts';
import { toolResultText } from '../messages/index.ts';
import type { LoopEvent } from '../step-by-step/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { ToolExecution, ToolExecutionStatus } from '../tools/index.ts';

/** What is known of a request when a model is asked. */
export interface InferenceFacts {
  readonly model: string;
  readonly messageCount: number;
  readonly tools: readonly string[];
}

/** A model is asked. */
export class InferenceStarted extends OrchestratorEvent {
  readonly type = 'InferenceStarted';
  readonly model: string;
  readonly messageCount: number;
  readonly tools: readonly string[];

  constructor(header: EventHeader, orchestrator: string, facts: InferenceFacts) {
    super(header, orchestrator);
    this.model = facts.model;
    this.messageCount = facts.messageCount;
    this.tools = facts.tools;
  }

  describe(): string {
    return `asks ${this.model} with ${pluralize(this.messageCount, 'message')} and ${pluralize(this.tools.length, 'tool')}`;
  }
}

/** A piece of something that the model says or thinks. Told at once, never stored. */
abstract class Delta extends OrchestratorEvent {
  readonly text: string;

  constructor(header: EventHeader, orchestrator: string, text: string) {
    super(header, orchestrator);
    this.text = text;
  }

  describe(): string {
    return JSON.stringify(defaultRedactor.text(this.text));
  }
}

export class TextDelta extends Delta {
  readonly type = 'TextDelta';

  override merge(next: BaseEvent): TextDelta | undefined {
    if (!(next instanceof TextDelta) || next.stepNumber !== this.stepNumber || next.executionId !== this.executionId) return undefined;
    return new TextDelta(this, this.orchestrator, this.text + next.text);
  }
}

export class ReasoningDelta extends Delta {
  readonly type = 'ReasoningDelta';

  override merge(next: BaseEvent): ReasoningDelta | undefined {
    if (!(next instanceof ReasoningDelta) || next.stepNumber !== this.stepNumber || next.executionId !== this.executionId) return undefined;
    return new ReasoningDelta(this, this.orchestrator, this.text + next.text);
  }
}

/** Which call an event is about. */
export interface CallFacts<Name extends string = string> {
  readonly tool: Name;
  readonly toolCallId: string;
  readonly args: Json;
  /** Where somebody has to settle it: by which id the state at the top waits for it. */
  readonly waitId?: string;
}

/** Base of the events about one call. */
abstract class CallEvent<Name extends string> extends OrchestratorEvent {
  readonly tool: Name;
  readonly toolCallId: string;
  readonly args: Json;
  /** Where somebody has to settle it: the id for `approve`, `reject` or `answer` on the state at the top. */
  declare readonly waitId?: string;

  constructor(header: EventHeader, orchestrator: string, facts: CallFacts<Name>) {
    super(header, orchestrator);
    if (facts.waitId !== undefined) this.waitId = facts.waitId;
    this.tool = facts.tool;
    this.toolCallId = facts.toolCallId;
    this.args = facts.args;
  }

  protected get call(): string {
    return `${this.tool} ${JSON.stringify(defaultRedactor.value(this.args))}`;
  }
}

/** A call begins; one for somebody outside begins when it is handed out. */
export class ToolCallStarted<Name extends string = string> extends CallEvent<Name> {
  readonly type = 'ToolCallStarted';

  describe(): string {
    return `calls ${this.call}`;
  }
}

/** A person has to agree before the call runs. */
export class ToolApprovalRequested<Name extends string = string> extends CallEvent<Name> {
  readonly type = 'ToolApprovalRequested';

  describe(): string {
    return `asks whether it may call ${this.call}`;
  }
}

/** How far a call has come. Told at once, never stored. */
export class ToolCallProgress<Name extends string = string> extends CallEvent<Name> {
  readonly type = 'ToolCallProgress';
  readonly progress: Json;

  constructor(header: EventHeader, orchestrator: string, facts: CallFacts<Name> & { readonly progress: Json }) {
    super(header, orchestrator, facts);
    this.progress = facts.progress;
  }

  describe(): string {
    return `${this.tool} has come to ${JSON.stringify(defaultRedactor.value(this.progress))}`;
  }
}

/** A call has ended: with a result, or with the reason why there is none. */
export class ToolCallCompleted<Name extends string = string, Result = Json> extends OrchestratorEvent {
  readonly type = 'ToolCallCompleted';
  readonly tool: Name;
  readonly toolCallId: string;
  readonly success: boolean;
  readonly status: ToolExecutionStatus;
  readonly durationMs: number;
  declare readonly result?: Result;
  /** Why there is no result, in the words that the model reads. */
  declare readonly error?: string;

  constructor(header: EventHeader, orchestrator: string, execution: ToolExecution) {
    super(header, orchestrator);
    // Holds: the name and the result are those of the tool whose types they carry.
    this.tool = execution.toolName as Name;
    this.toolCallId = execution.toolCallId;
    this.status = execution.status;
    this.success = execution.status === 'succeeded';
    this.durationMs = execution.durationMs;
    if (execution.status === 'succeeded') this.result = execution.value as Result;
    else this.error = toolResultText(execution.output);
  }

  describe(): string {
    const took = `after ${Math.round(this.durationMs)} ms`;
    return this.success ? `${this.tool} ended ${took}` : `${this.tool} ${this.status} ${took}: ${defaultRedactor.text(this.error ?? '')}`;
  }
}

/** One model failed and another one is asked. What was streamed of the failed answer is void. */
export class ModelFallback extends OrchestratorEvent {
  readonly type = 'ModelFallback';
  readonly from: string;
  readonly to: string;
  readonly failure: Failure;

  constructor(header: EventHeader, orchestrator: string, facts: { readonly from: string; readonly to: string; readonly failure: Failure }) {
    super(header, orchestrator);
    this.from = facts.from;
    this.to = facts.to;
    this.failure = facts.failure;
  }

  describe(): string {
    return `turned from ${this.from} to ${this.to}: ${defaultRedactor.text(this.failure.message)}`;
  }
}

/** Every event of a conversation with tools. */
export type ToolUseEvent =
  | LoopEvent
  | InferenceStarted
  | TextDelta
  | ReasoningDelta
  | ToolCallStarted
  | ToolCallProgress
  | ToolCallCompleted
  | ToolApprovalRequested
  | ModelFallback
  | HookApplied
  | HookReported
  | ToolCallBlocked;
