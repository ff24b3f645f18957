import type { Json, JsonObject, ReadValue } from '../../lib/index.ts';
import { DamagedDataError, omitUndefined } from '../../lib/index.ts';
import type { Message, MessageRole, Part, ToolCall, ToolOutput, ToolResult } from '../../messages/index.ts';
import { messageRoles, toolResultText } from '../../messages/index.ts';
import type { FieldReader } from './field-readers.ts';
import {
  array,
  boolean,
  createReader,
  json,
  jsonObject,
  oneOf,
  optional,
  optionalBoolean,
  optionalNumber,
  optionalString,
  string,
} from './field-readers.ts';
import { isObservation } from './message-window.ts';
import type { SlimWriter } from './slim-writer.ts';

/** Replaces a tool's result that was left out. */
export const resultLeftOut = '[tool result left out]';
/** Replaces a model's words that may hold a call's arguments. */
export const argsLeftOut = '[tool arguments left out]';

/** Parts of a message that the config may leave out. */
export const SlimOmission = { ToolArgs: 'tool_args', ToolResults: 'tool_results' } as const;
export type SlimOmission = (typeof SlimOmission)[keyof typeof SlimOmission];

/** The arguments of a call; empty if they were left out. */
export interface SlimArgs {
  readonly args?: Json;
  /** Instead of `args`, if their JSON is too long or could not be parsed: its beginning. */
  readonly args_text?: string;
  /** True if secrets were removed from them. */
  readonly args_redacted?: boolean;
}

export const args: { readonly [Key in keyof SlimArgs]-?: FieldReader<SlimArgs[Key]> } = {
  args: json,
  args_text: optionalString,
  args_redacted: optionalBoolean,
};

export interface SlimToolCall extends SlimArgs {
  readonly id: string;
  readonly name: string;
}

const readCall = createReader<SlimToolCall>({ id: string, name: string, ...args });

export interface SlimToolResult {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly status: 'ok' | 'error' | 'rejected';
  /** The result as text, or a fixed text that says it was left out. */
  readonly content: string;
}

const readResult = createReader<SlimToolResult>({
  tool_call_id: string,
  tool_name: string,
  status: oneOf(['ok', 'error', 'rejected']),
  content: string,
});

/** Describes a part that is not text; its bytes are never in a payload. */
export interface SlimAttachment {
  readonly type: 'image' | 'file' | 'source' | 'provider';
  readonly media_type?: string;
  readonly filename?: string;
  /** Its size, if the message holds it. */
  readonly bytes?: number;
  readonly title?: string;
  /** Web address of a source. */
  readonly url?: string;
}

const readAttachment = createReader<SlimAttachment>({
  type: oneOf(['image', 'file', 'source', 'provider']),
  media_type: optionalString,
  filename: optionalString,
  bytes: optionalNumber,
  title: optionalString,
  url: optionalString,
});

export interface SlimMessage {
  readonly id: string;
  readonly role: MessageRole;
  readonly name?: string;
  /** The words; '' if there are none. */
  readonly content: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly SlimToolCall[];
  readonly tool_results?: readonly SlimToolResult[];
  readonly attachments?: readonly SlimAttachment[];
  readonly metadata?: JsonObject;
  /** Said while a step was open; it joins the conversation behind that step. */
  readonly queued?: boolean;
  /** Parts that the config left out of this message. */
  readonly omitted?: readonly SlimOmission[];
}

function readText(input: unknown, path: string): string {
  if (typeof input === 'string') return input;
  throw new DamagedDataError(path, 'expected a string');
}

const isOmission = (word: string): word is SlimOmission => Object.values<string>(SlimOmission).includes(word);

export const readMessage: ReadValue<SlimMessage> = createReader<SlimMessage>({
  id: string,
  role: oneOf(messageRoles),
  name: optionalString,
  content: string,
  reasoning: optionalString,
  tool_calls: optional(array(readCall)),
  tool_results: optional(array(readResult)),
  attachments: optional(array(readAttachment)),
  metadata: optional(jsonObject),
  queued: optional(boolean),
  // A later version may leave out other things.
  omitted: optional((data, key) => data.array(key, readText).filter(isOmission)),
});

/** Writes the arguments of a call, if the config shows them. */
export function writeArgs(value: Json, writer: SlimWriter): SlimArgs {
  if (!writer.config.includeToolArgs) return {};
  const shown = writer.writeValue(value);
  return { ...(shown.whole ? { args: shown.value } : { args_text: shown.text }), ...(shown.redacted && { args_redacted: true }) };
}

/** Writes the arguments of a call; of those that could not be parsed, the text. */
export function writeCallArgs({ args: value, rawArgs }: ToolCall, writer: SlimWriter): SlimArgs {
  if (rawArgs === undefined) return writeArgs(value, writer);
  return writer.config.includeToolArgs ? { args_text: writer.writeText(rawArgs) } : {};
}

function writeCall(call: ToolCall, writer: SlimWriter): SlimToolCall {
  return { id: writer.writeName(call.id), name: writer.writeName(call.name), ...writeCallArgs(call, writer) };
}

/** Writes the output of a call as text. */
export function writeOutput(output: ToolOutput, writer: SlimWriter): string {
  if (output.type !== 'json' || typeof output.value === 'string') return writer.writeText(toolResultText(output));
  // As a value: in a text, only a secret that is text itself is recognised by the name of its field.
  const shown = writer.writeValue(output.value);
  return shown.whole ? JSON.stringify(shown.value) : shown.text;
}

function writeResult({ toolCallId, toolName, output }: ToolResult, writer: SlimWriter): SlimToolResult {
  return {
    tool_call_id: writer.writeName(toolCallId),
    tool_name: writer.writeName(toolName),
    status: output.type === 'error' || output.type === 'rejected' ? output.type : 'ok',
    content: writer.config.includeToolResults ? writeOutput(output, writer) : resultLeftOut,
  };
}

function countBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function writeAttachment(part: Part, writer: SlimWriter): readonly SlimAttachment[] {
  const write = (text: string | undefined): string | undefined => (text === undefined ? undefined : writer.writeText(text));
  if (part.type === 'provider') return [{ type: 'provider' }];
  if (part.type !== 'image' && part.type !== 'file' && part.type !== 'source') return [];
  const { title, url } = part.type === 'source' ? part : {};
  return [
    omitUndefined({
      type: part.type,
      media_type: write(part.mediaType),
      filename: 'filename' in part ? write(part.filename) : undefined,
      bytes: 'data' in part ? countBytes(part.data) : undefined,
      title: write(title),
      // A data: address holds the data itself, and other schemes cannot be opened by the reader.
      url: url !== undefined && /^https?:/i.test(url) ? write(url) : undefined,
    }),
  ];
}

// Models without tool calling make calls and read results in plain words. A fixed text is never cut.
function writeWords(message: Message, writer: SlimWriter): { readonly content: string; readonly omitted: readonly SlimOmission[] } {
  const { includeToolArgs, includeToolResults } = writer.config;
  const { text } = message;
  const purpose = message.isAssistant() ? message.metadata['purpose'] : undefined;
  if (!includeToolResults && isObservation(message)) return { content: resultLeftOut, omitted: [SlimOmission.ToolResults] };
  if (includeToolArgs || (purpose !== 'action' && purpose !== 'undecided')) return { content: writer.writeText(text), omitted: [] };
  // The arguments stand as JSON behind the tool's name, in the last line.
  const lastLine = text.lastIndexOf('\n') + 1;
  const [action] = (purpose === 'action' && /^Action: \S+/.exec(text.slice(lastLine))) || [];
  const content = action === undefined ? argsLeftOut : writer.writeText(text.slice(0, lastLine) + action);
  return { content, omitted: [SlimOmission.ToolArgs] };
}

/** Writes a message for display. */
export function writeMessage(message: Message, writer: SlimWriter): SlimMessage {
  const { reasoning, toolCalls, toolResults, parts, metadata } = message;
  const { includeToolArgs, includeToolResults, includeMetadata } = writer.config;
  const words = writeWords(message, writer);
  const omitted = [...words.omitted];
  if (toolCalls.length > 0 && !includeToolArgs) omitted.push(SlimOmission.ToolArgs);
  if (toolResults.length > 0 && !includeToolResults) omitted.push(SlimOmission.ToolResults);
  const attachments = parts.flatMap((part) => writeAttachment(part, writer));
  // The metadata may repeat what was left out.
  const { fields } = includeMetadata && omitted.length === 0 ? writer.writeFields(metadata) : { fields: {} };
  return {
    id: writer.writeName(message.id),
    role: message.role,
    ...(message.name !== undefined && { name: writer.writeName(message.name) }),
    content: words.content,
    ...(reasoning !== '' && { reasoning: writer.writeText(reasoning) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => writeCall(call, writer)) }),
    ...(toolResults.length > 0 && { tool_results: toolResults.map((result) => writeResult(result, writer)) }),
    ...(attachments.length > 0 && { attachments }),
    ...(Object.keys(fields).length > 0 && { metadata: fields }),
    ...(omitted.length > 0 && { omitted }),
  };
}
