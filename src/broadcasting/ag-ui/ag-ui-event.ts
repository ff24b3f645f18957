// The events of AG-UI 1.0 that are sent. Their names and fields are those of the protocol; tests compare them with its own schemas.
import type { Json, JsonObject } from '../../lib/index.ts';

/** Tokens of a run, for one provider and model. A count that was not reported is absent. */
export interface AgUiUsage {
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

/** Something that a run waits for. The next run on the thread answers it by its id. */
export interface AgUiInterrupt {
  readonly id: string;
  /** `tool_call`, `input_required`, or one of our own: `stepline:grant`, `stepline:unknown_call`, `stepline:provider`, `stepline:crash_loop`. */
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  /** JSON Schema of the payload that answers it. */
  readonly responseSchema?: JsonObject;
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly metadata?: JsonObject;
  /** Sub-agent that asks; absent if the session's agent does. */
  readonly subagentRunId?: string;
}

/** End of a run that did not fail. */
export type AgUiOutcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: 'cancelled' };

export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of a conversation. */
export type AgUiMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: string | readonly JsonObject[]; readonly name?: string }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly AgUiToolCall[];
      readonly name?: string;
    }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: string; readonly error?: string }
  | { readonly id: string; readonly role: 'reasoning'; readonly content: string };

/** Sub-agent that an event belongs to; absent if it is of the session's agent. */
interface Attributed {
  readonly subagentRunId?: string;
}

type AgUiEventBody =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string; readonly protocolVersion: string }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUiOutcome;
      readonly result?: Json;
      readonly usage?: readonly AgUiUsage[];
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code: string; readonly usage?: readonly AgUiUsage[] }
  | (Attributed & { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string })
  | (Attributed & {
      readonly type: 'TEXT_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'assistant' | 'user';
      readonly name?: string;
    })
  | (Attributed & { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string })
  | (Attributed & { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string })
  | (Attributed & { readonly type: 'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END'; readonly messageId: string })
  | (Attributed & { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' })
  | (Attributed & { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string })
  | (Attributed & {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    })
  | (Attributed & { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string })
  | (Attributed & { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string })
  | (Attributed & {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    })
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentSubagentRunId?: string;
      readonly parentToolCallId?: string;
    }
  | {
      readonly type: 'SUBAGENT_FINISHED';
      readonly subagentRunId: string;
      readonly outcome: { readonly type: 'success' } | { readonly type: 'suspended' };
    }
  | { readonly type: 'SUBAGENT_ERROR'; readonly subagentRunId: string; readonly message: string; readonly code?: string }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] }
  | (Attributed & { readonly type: 'CUSTOM'; readonly name: string; readonly value: Json });

/** An event of AG-UI. */
export type AgUiEvent = AgUiEventBody & {
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
};

/** Version of AG-UI that is spoken. */
export const protocolVersion = '1.0';
