import type { Json } from '../lib/index.ts';
import type { ContentPart, PartExtras } from './content-part.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolResult } from './tool-result.ts';

/** Reasoning of a model before its answer. */
export interface ReasoningPart extends PartExtras {
  readonly type: 'reasoning';
  readonly text: string;
}

/** A tool call inside a message. */
export interface ToolCallPart extends PartExtras {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Json;
  /** Arguments as the model wrote them, if they could not be parsed. */
  readonly rawArgs?: string;
  readonly providerExecuted?: boolean;
}

/** A tool's answer inside a message. */
export interface ToolResultPart extends ToolResult {
  readonly type: 'tool-result';
}

/** Something that a model's answer rests on. */
export interface SourcePart extends PartExtras {
  readonly type: 'source';
  readonly sourceType: 'url' | 'document';
  readonly id: string;
  readonly url?: string;
  readonly title?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

/** Data that only one provider understands; sent back to that provider unread. */
export interface ProviderPart extends PartExtras {
  readonly type: 'provider';
  readonly provider: string;
  readonly data: Json;
}

/** One piece of a message. */
export type Part = ContentPart | ReasoningPart | ToolCallPart | ToolResultPart | SourcePart | ProviderPart;

/** Makes a reasoning part. */
export function reasoningPart(text: string, extras: PartExtras = {}): ReasoningPart {
  return { type: 'reasoning', text, ...extras };
}

/** Makes the part that carries a tool call. */
export function toolCallPart({ id, name, ...rest }: ToolCall): ToolCallPart {
  return { type: 'tool-call', toolCallId: id, toolName: name, ...rest };
}

/** Reads the tool call out of its part. */
export function toToolCall({ toolCallId, toolName, args, rawArgs, providerExecuted, providerMetadata }: ToolCallPart): ToolCall {
  const call: { -readonly [Key in keyof ToolCall]: ToolCall[Key] } = { id: toolCallId, name: toolName, args };
  if (rawArgs !== undefined) call.rawArgs = rawArgs;
  if (providerExecuted !== undefined) call.providerExecuted = providerExecuted;
  if (providerMetadata !== undefined) call.providerMetadata = providerMetadata;
  return call;
}

/** Makes the part that carries a tool's answer. */
export function toolResultPart({ toolCallId, toolName, output, providerExecuted, providerMetadata }: ToolResult): ToolResultPart {
  const part: { -readonly [Key in keyof ToolResultPart]: ToolResultPart[Key] } = { type: 'tool-result', toolCallId, toolName, output };
  if (providerExecuted !== undefined) part.providerExecuted = providerExecuted;
  if (providerMetadata !== undefined) part.providerMetadata = providerMetadata;
  return part;
}

/** Reads the tool's answer out of its part. */
export function toToolResult({ type: _, ...result }: ToolResultPart): ToolResult {
  return result;
}
