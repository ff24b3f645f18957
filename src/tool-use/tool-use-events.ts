import type { Failure } from '../errors/index.ts';
import type { BaseEvent, EventHeader } from '../events/index.ts';
import type { HookApplied, HookReported, ToolCallBlocked } from '../hooks/index.ts';
import type { Json } from '../lib/index.ts';
import { toolResultText } from '../messages/index.ts';
import type { LoopEvent } from '../step-by-step/index.ts';
import { OrchestratorEvent } from '../step-by-step/index.ts';
import type { ToolExecution, ToolExecutionStatus, ToolName, ToolResultValue, Tools } from '../tools/index.ts';

/** A model is asked. */
export class InferenceStarted extends OrchestratorEvent {
  readonly type = 'InferenceStarted';
  readonly model: string;
  readonly messageCount: number;
  readonly tools: readonly string[];

  constructor(header: EventHeader, orchestrator: string, facts: Pick<InferenceStarted, 'model' | 'messageCount' | 'tools'>) {
    super(header, orchestrator);
    this.model = facts.model;
    this.messageCount = facts.messageCount;
    this.tools = facts.tools;
  }
}

/** A piece of the model's text or reasoning. Emitted at once, never stored. */
abstract class Delta extends OrchestratorEvent {
  readonly text: string;

  constructor(header: EventHeader, orchestrator: string, text: string) {
    super(header, orchestrator);
    this.text = text;
  }

  protected precedes({ stepNumber, executionId }: BaseEvent): boolean {
    return stepNumber === this.stepNumber && executionId === this.executionId;
  }
}

export class TextDelta extends Delta {
  readonly type = 'TextDelta';

  override merge(next: BaseEvent): TextDelta | undefined {
    return next instanceof TextDelta && this.precedes(next) ? new TextDelta(this, this.orchestrator, this.text + next.text) : undefined;
  }
}

export class ReasoningDelta extends Delta {
  readonly type = 'ReasoningDelta';

  override merge(next: BaseEvent): ReasoningDelta | undefined {
    return next instanceof ReasoningDelta && this.precedes(next)
      ? new ReasoningDelta(this, this.orchestrator, this.text + next.text)
      : undefined;
  }
}

/** The call that an event is about. */
export type CallFacts<Name extends string = string> = Pick<ToolCallStarted<Name>, 'tool' | 'toolCallId' | 'args' | 'waitId'>;

/** Base of the events about one call. */
abstract class CallEvent<Name extends string> extends OrchestratorEvent {
  readonly tool: Name;
  readonly toolCallId: string;
  readonly args: Json;
  /** Id for `approve`, `reject` or `answer` on the state at the top, if the call waits for somebody. */
  declare readonly waitId?: string;

  constructor(header: EventHeader, orchestrator: string, facts: CallFacts<Name>) {
    super(header, orchestrator);
    if (facts.waitId !== undefined) this.waitId = facts.waitId;
    this.tool = facts.tool;
    this.toolCallId = facts.toolCallId;
    this.args = facts.args;
  }
}

/** A call starts; a client's call starts when it is handed out. */
export class ToolCallStarted<Name extends string = string> extends CallEvent<Name> {
  readonly type = 'ToolCallStarted';
}

/** A person has to agree before the call runs. */
export class ToolApprovalRequested<Name extends string = string> extends CallEvent<Name> {
  readonly type = 'ToolApprovalRequested';
  /** Reason that the tool's rule gave for asking, if it gave one. */
  declare readonly reason?: string;

  constructor(header: EventHeader, orchestrator: string, facts: CallFacts<Name> & { readonly reason?: string }) {
    super(header, orchestrator, facts);
    if (facts.reason !== undefined) this.reason = facts.reason;
  }
}

/** Progress of a call. Emitted at once, never stored. */
export class ToolCallProgress<Name extends string = string> extends CallEvent<Name> {
  readonly type = 'ToolCallProgress';
  readonly progress: Json;

  constructor(header: EventHeader, orchestrator: string, facts: CallFacts<Name> & { readonly progress: Json }) {
    super(header, orchestrator, facts);
    this.progress = facts.progress;
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
  /** Reason why there is no result, in the words that the model reads; null if there is one. */
  readonly error: string | null;

  constructor(header: EventHeader, orchestrator: string, execution: ToolExecution) {
    super(header, orchestrator);
    // Holds: the name and the result are those of the tool whose types they carry.
    this.tool = execution.toolName as Name;
    this.toolCallId = execution.toolCallId;
    this.status = execution.status;
    this.success = execution.status === 'succeeded';
    this.durationMs = execution.durationMs;
    if (execution.status === 'succeeded') this.result = execution.value as Result;
    this.error = execution.status === 'succeeded' ? null : toolResultText(execution.output);
  }
}

/** One model failed and another one is asked. What was streamed of the failed answer is void. */
export class ModelFallback extends OrchestratorEvent {
  readonly type = 'ModelFallback';
  readonly from: string;
  readonly to: string;
  readonly failure: Failure;

  constructor(header: EventHeader, orchestrator: string, facts: Pick<ModelFallback, 'from' | 'to' | 'failure'>) {
    super(header, orchestrator);
    this.from = facts.from;
    this.to = facts.to;
    this.failure = facts.failure;
  }
}

/** A model is skipped because it failed lately and another one answered. */
export class ModelSkipped extends OrchestratorEvent {
  readonly type = 'ModelSkipped';
  readonly model: string;
  /** Failures in a row that another model covered. */
  readonly failures: number;
  /** Time at which it is asked first again. */
  readonly until: number;

  constructor(header: EventHeader, orchestrator: string, facts: Pick<ModelSkipped, 'model' | 'failures' | 'until'>) {
    super(header, orchestrator);
    this.model = facts.model;
    this.failures = facts.failures;
    this.until = facts.until;
  }
}

/** Events that do not depend on the tools. */
type CommonEvent =
  LoopEvent | InferenceStarted | TextDelta | ReasoningDelta | ModelFallback | ModelSkipped | HookApplied | HookReported | ToolCallBlocked;

/** Every event of a conversation with tools. */
export type ToolUseEvent = CommonEvent | ToolCallStarted | ToolCallProgress | ToolCallCompleted | ToolApprovalRequested;

type TypedCompletion<Name extends string, Result> = ToolCallCompleted<Name, Result> &
  (
    | { readonly success: true; readonly result: Result; readonly error: null }
    | { readonly success: false; readonly result?: undefined; readonly error: string }
  );

type EventsOfTool<Given extends Tools, Name extends string> = Name extends string
  ? ToolCallStarted<Name> | ToolCallProgress<Name> | ToolApprovalRequested<Name> | TypedCompletion<Name, ToolResultValue<Given, Name>>
  : never;

/** Every event of a conversation with these tools. The tool's name narrows the result of a call. */
export type ToolEvent<Given extends Tools = Tools> = CommonEvent | EventsOfTool<Given, ToolName<Given>>;
