// Messages as people see them. Names and values are those of envelopes.
import type { Json } from '../lib/index.ts';

/** Kinds of status messages. */
export const StatusType = {
  /** The model is asked, and nothing has come yet. */
  Thinking: 'thinking',
  ToolCall: 'tool_call',
  ToolResult: 'tool_result',
  /** The run has failed, or something did that is tried again. */
  Error: 'error',
  Info: 'info',
  /** The run has ended, for another reason than that it was done or failed. */
  Continuation: 'continuation',
} as const;
export type StatusType = (typeof StatusType)[keyof typeof StatusType];

/** Author of a message or a decision. */
export interface ViewAuthor {
  readonly id: string;
  /** `agent`, `system`, or what the host says. */
  readonly kind: string;
}

/** A call, beside the text that announces it. */
export interface ViewToolCall {
  readonly id: string;
  readonly name: string;
  /** Present if the server sends arguments. */
  readonly args?: Json;
  readonly args_summary: string;
}

/** The decision to continue or stop. */
export interface ViewContinuation {
  readonly should_continue: boolean;
  readonly stop_reason: string | null;
  readonly resolved_by: string;
}

/** The approval that a call needs, and what became of it. */
export interface ViewApproval {
  readonly wait_id: string;
  /** Binds an approval to what was shown; absent if something of the call is not shown. */
  readonly digest?: string;
  readonly expires_at?: string;
  /** Arguments that the summary does not show as they are. */
  readonly hidden_fields: readonly string[];
  /** `open`, or how it was decided: `approved`, `rejected`, `expired`, `superseded`, `cancelled`, … */
  readonly status: string;
  readonly by?: ViewAuthor;
  readonly at?: string;
  readonly reason?: string;
  /** True if the call was approved with other arguments. */
  readonly edited?: boolean;
}

/** A retry that follows a failed step. */
export interface ViewRetry {
  /** Number of failed attempts in a row. */
  readonly attempt: number;
  readonly max_attempts?: number;
  readonly delay_ms: number;
  readonly error_type: string;
}

interface MessageBase {
  /** Unique in the view, and the same before and after the message is stored. */
  readonly id: string;
  /** Words for people; never the JSON of arguments or results. */
  readonly text: string;
  readonly timestamp: string;
  readonly agent_id: string;
  /** Present if another agent started this one. */
  readonly parent_agent_id?: string;
  /** Id of the message of the call that it happened inside; absent outside of calls. */
  readonly parent_id?: string;
  /** Call that it happened inside. */
  readonly parent_tool_call_id?: string;
  /** Number of calls around it; absent outside of calls. */
  readonly depth?: number;
  /** Participant whose turn it is, if several take turns. */
  readonly participant?: string;
  readonly step_number?: number;
  /** Present if it is not stored yet. */
  readonly provisional?: true;
}

export interface UserViewMessage extends MessageBase {
  readonly role: 'user';
  /** Id in the stored conversation. */
  readonly message_id: string;
  readonly by: ViewAuthor;
  /** Number of images and files. */
  readonly attachments?: number;
}

export interface AssistantViewMessage extends MessageBase {
  readonly role: 'assistant';
  /** Id in the stored conversation; absent while the text is being written. */
  readonly message_id?: string;
  readonly by?: ViewAuthor;
  /** Thoughts of the model while it writes; not stored. */
  readonly reasoning?: string;
  /** Calls of the same step. */
  readonly tool_calls?: readonly ViewToolCall[];
  /** Reason why the text broke off. */
  readonly interrupted?: string;
}

/** State of a call: `running`, `waiting`, `blocked`, or the status that it ended with. */
export interface ToolViewMessage extends MessageBase {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly tool_status: string;
  readonly tool_args_summary: string;
  readonly tool_args?: Json;
  /** Summary of the result. */
  readonly tool_result?: string;
  readonly tool_error?: string;
  readonly tool_duration_ms?: number;
  /** Last progress that the tool reported. */
  readonly tool_progress?: Json;
  readonly approval?: ViewApproval;
}

export interface StatusViewMessage extends MessageBase {
  readonly role: 'status';
  readonly status_type: StatusType;
  readonly continuation?: ViewContinuation;
  readonly retry?: ViewRetry;
  /** Person who did it, if somebody did. */
  readonly by?: ViewAuthor;
}

/** A message of a conversation, by its `role`. */
export type ViewMessage = UserViewMessage | AssistantViewMessage | ToolViewMessage | StatusViewMessage;
