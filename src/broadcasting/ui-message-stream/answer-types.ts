// The types of a page's messages.
import type { UIMessage, UIMessageChunk } from 'ai';
import type { StopReason } from '../../continuation/index.ts';
import type { Json } from '../../lib/index.ts';
import type { Usage } from '../../messages/index.ts';
import type { ExecutionStatus } from '../../step-by-step/index.ts';

/** Something that an answer waits for. */
export interface AnswerWait {
  readonly type: string;
  readonly id: string;
  readonly toolName?: string;
}

/** The end of an answer, or the reason why it waits. */
export interface AnswerOutcome {
  readonly status: ExecutionStatus;
  /** Absent while it waits. */
  readonly stopReason?: StopReason;
  /** Explanation in a few lines. */
  readonly why: string;
  /** Usage of the whole execution. */
  readonly usage: Usage;
  /** Absent unless it waits. */
  readonly waitingFor?: readonly AnswerWait[];
}

/** Metadata of an assistant's message. */
export interface AnswerMetadata extends Partial<AnswerOutcome> {
  readonly sessionId?: string;
}

/** Data parts of an assistant's message. A type, since `ai` asks for an index signature. */
export type AnswerData = {
  /** The end of the answer; replaced if it continues. */
  outcome: AnswerOutcome;
  /** Progress of a call. Never part of the message. */
  progress: { readonly toolCallId: string; readonly toolName: string; readonly progress: Json };
  /** A sentence about a retry or another model. Never part of the message. */
  notice: { readonly text: string };
};

/** A message as `useChat` has it. */
export type AgentUIMessage = UIMessage<AnswerMetadata, AnswerData>;

/** A chunk of an answer. */
export type AnswerChunk = UIMessageChunk<AnswerMetadata, AnswerData>;
