import type { Json } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Message, Part, ToolCall, ToolOutput, ToolResult } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import { isObservation } from './message-window.ts';
import type { SlimAttachment, SlimMessage, SlimToolCall, SlimToolResult } from './slim-payload.ts';
import { argsLeftOut, resultLeftOut, SlimOmission } from './slim-payload.ts';
import type { SlimWriter } from './slim-writer.ts';

/** Writes the arguments of a call, if the config shows them. */
export function writeArgs(args: Json, writer: SlimWriter): Pick<SlimToolCall, 'args' | 'args_text'> {
  if (!writer.config.includeToolArgs) return {};
  const shown = writer.writeValue(args);
  return shown.whole ? { args: shown.value } : { args_text: shown.text };
}

function writeCall({ id, name, args, rawArgs }: ToolCall, writer: SlimWriter): SlimToolCall {
  const call = { id: writer.writeName(id), name: writer.writeName(name) };
  if (rawArgs === undefined) return { ...call, ...writeArgs(args, writer) };
  return writer.config.includeToolArgs ? { ...call, args_text: writer.writeText(rawArgs) } : call;
}

function writeOutput(output: ToolOutput, writer: SlimWriter): string {
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
