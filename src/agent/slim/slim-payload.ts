// The slim payload: what a screen shows of a state, as JSON.
// P1. It is JSON and nothing else: what JSON.parse gives of it equals it, and no text has half a surrogate pair.
// P2. It is never resumable. Even uncut it lacks what a run needs: the state's id and event number, earlier executions, answers to waits,
//     runs inside calls, sections beside the conversation, and what providers want back unread. So `resumable` is false in all of them.
// P3. A tool result stands behind its call. What was cut ends in the mark; what was left out is counted in `omitted`, or named there.
// P4. Step numbers are those of the execution, whatever was cut.
// P5. Fields may be added without a new number; readers ignore what they do not know.
import type { ContinuationDecision, LimitKind, StopReason } from '../../continuation/index.ts';
import type { ErrorType } from '../../errors/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import type { MessageRole } from '../../messages/index.ts';
import type { ExecutionStatus, Interruption, Wait } from '../../step-by-step/index.ts';
import type { StepType } from '../../tool-use/index.ts';
import type { ToolExecution } from '../../tools/index.ts';

/** Tells a slim payload from a stored state. */
export const slimKind = 'slim-agent-state';
export const slimSchema = 1;

/** Stands in the place of a tool's result that was left out. */
export const resultLeftOut = '[tool result left out]';
/** Stands in the place of a model's words that may hold a call's arguments. */
export const argsLeftOut = '[tool arguments left out]';

/** What may be left out of a message by the config. */
export const SlimOmission = { ToolArgs: 'tool_args', ToolResults: 'tool_results' } as const;
export type SlimOmission = (typeof SlimOmission)[keyof typeof SlimOmission];

export interface SlimUsage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
  readonly unknown_calls?: number;
}

/** A call; without arguments where they were left out. */
export interface SlimToolCall {
  readonly id: string;
  readonly name: string;
  readonly args?: Json;
  /** In the place of `args`, where their JSON is too long or could not be parsed: its beginning. */
  readonly args_text?: string;
}

export interface SlimToolResult {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly status: 'ok' | 'error' | 'rejected';
  /** The result as text, or a fixed text that says it was left out. */
  readonly content: string;
}

/** Describes what is no text; its bytes are never in a payload. */
export interface SlimAttachment {
  readonly type: 'image' | 'file' | 'source' | 'provider';
  readonly media_type?: string;
  readonly filename?: string;
  /** Its size, where the message holds it. */
  readonly bytes?: number;
  readonly title?: string;
  /** Where a source stands on the web. */
  readonly url?: string;
}

export interface SlimMessage {
  readonly id: string;
  readonly role: MessageRole;
  readonly name?: string;
  /** The words; '' where there are none. */
  readonly content: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly SlimToolCall[];
  readonly tool_results?: readonly SlimToolResult[];
  readonly attachments?: readonly SlimAttachment[];
  readonly metadata?: JsonObject;
  /** Said while a step was open; it joins the conversation behind that step. */
  readonly queued?: boolean;
  /** What the config left out of this message. */
  readonly omitted?: readonly SlimOmission[];
}

export interface SlimFailure {
  readonly type: ErrorType;
  readonly code: string;
  /** Left out where it is about a call whose arguments or results are. */
  readonly message?: string;
  readonly tool_name?: string;
}

export interface SlimStepCall {
  readonly id: string;
  readonly name: string;
  /** Absent until the call has ended. */
  readonly status?: ToolExecution['status'];
}

export interface SlimEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  readonly reason: string;
  readonly stop_reason?: StopReason;
  readonly limit?: LimitKind;
}

export interface SlimStep {
  /** Counts from 1 in the execution. */
  readonly step_number: number;
  readonly type: StepType;
  readonly has_tool_calls: boolean;
  readonly finish_reason: string | null;
  readonly interrupted?: Interruption;
  readonly model?: string;
  readonly errors: readonly SlimFailure[];
  readonly usage: SlimUsage;
  readonly tool_calls: readonly SlimStepCall[];
  /** Null for a step that is being judged. */
  readonly started_at: string | null;
  /** Null for a step that has not ended. */
  readonly ended_at: string | null;
  /** Time at work and in backoff, so far; null for a step that is being judged. Waiting for people does not count. */
  readonly duration_ms: number | null;
  /** What the assistant has said in a step whose messages are not in the conversation yet. */
  readonly text?: string;
  readonly evaluations?: readonly SlimEvaluation[];
}

/** Something that somebody has to settle. */
export interface SlimWait {
  readonly type: Wait['type'];
  readonly id: string;
  readonly tool_name?: string;
  readonly args?: Json;
  readonly args_text?: string;
  readonly prompt?: string;
  readonly limit?: LimitKind;
  readonly problem?: string;
  readonly agent?: string;
}

export interface SlimContinuation {
  readonly should_continue: boolean;
  /** Null where it goes on. */
  readonly stop_reason: StopReason | null;
  readonly resolved_by: string;
  readonly decision: ContinuationDecision;
  /** What the one who settled it said. */
  readonly reason?: string;
  readonly evaluations?: readonly SlimEvaluation[];
}

export interface SlimExecution {
  /** Counts from 1 in the session. */
  readonly number: number;
  readonly step_count: number;
  /** When the session began. */
  readonly started_at: string;
  readonly updated_at: string;
  /** Time spent in steps over the whole session. */
  readonly cumulative_seconds: number;
}

/** How many of each are not in the payload. */
export interface SlimOmitted {
  readonly messages: number;
  readonly steps: number;
  /** Fields of the state's metadata. */
  readonly metadata: number;
}

/** What a screen shows of a state. For display: pause and resume use the state's own codec. */
export interface SlimPayload {
  readonly kind: typeof slimKind;
  readonly schema: typeof slimSchema;
  readonly agent_id: string;
  readonly parent_agent_id: string | null;
  readonly status: ExecutionStatus;
  readonly execution: SlimExecution;
  /** Of this execution. */
  readonly usage: SlimUsage;
  /** Oldest first, in the order of the conversation. */
  readonly messages: readonly SlimMessage[];
  /** The step that waits or is being judged, else the last one. */
  readonly current_step: SlimStep | null;
  /** Those of this execution that have been taken, oldest first. */
  readonly steps: readonly SlimStep[];
  /** A start that was refused at a limit waits too, and has no step. */
  readonly waiting_for: readonly SlimWait[];
  readonly last_continuation: SlimContinuation | null;
  /** Null where the config leaves it out. */
  readonly metadata: JsonObject | null;
  readonly omitted: SlimOmitted;
  readonly resumable: false;
}
