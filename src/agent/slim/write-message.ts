import type { Json } from '../../lib/index.ts';
import type { Message, Part, ToolCall, ToolOutput, ToolResult } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import { isObservation } from './message-window.ts';
import type { SlimInk } from './slim-ink.ts';
import type { SlimAttachment, SlimMessage, SlimToolCall, SlimToolResult } from './slim-payload.ts';
import { argsLeftOut, resultLeftOut, SlimOmission } from './slim-payload.ts';

/** Arguments as far as they are shown. */
export function writeArgs(args: Json, ink: SlimInk): Pick<SlimToolCall, 'args' | 'args_text'> {
  if (!ink.config.includeToolArgs) return {};
  const shown = ink.value(args);
  return shown.whole ? { args: shown.value } : { args_text: shown.text };
}

function writeCall({ id, name, args, rawArgs }: ToolCall, ink: SlimInk): SlimToolCall {
  const call = { id: ink.name(id), name: ink.name(name) };
  if (rawArgs === undefined) return { ...call, ...writeArgs(args, ink) };
  return ink.config.includeToolArgs ? { ...call, args_text: ink.text(rawArgs) } : call;
}

function outputText(output: ToolOutput, ink: SlimInk): string {
  if (output.type !== 'json' || typeof output.value === 'string') return ink.text(toolResultText(output));
  // As a value: in a text, only a secret that is text itself is known by the name of its field.
  const shown = ink.value(output.value);
  return shown.whole ? JSON.stringify(shown.value) : shown.text;
}

const statusOf = ({ type }: ToolOutput): SlimToolResult['status'] => (type === 'error' || type === 'rejected' ? type : 'ok');

function writeResult({ toolCallId, toolName, output }: ToolResult, ink: SlimInk): SlimToolResult {
  return {
    tool_call_id: ink.name(toolCallId),
    tool_name: ink.name(toolName),
    status: statusOf(output),
    content: ink.config.includeToolResults ? outputText(output, ink) : resultLeftOut,
  };
}

function bytesOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

// An address of data holds the data itself, and one that is not for the web is nobody's to open.
const isOnTheWeb = (url: string | undefined): url is string => url !== undefined && /^https?:/i.test(url);

function writeAttachment(part: Part, ink: SlimInk): readonly SlimAttachment[] {
  switch (part.type) {
    case 'image':
    case 'file':
    case 'source': {
      const { mediaType } = part;
      const filename = 'filename' in part ? part.filename : undefined;
      const data = 'data' in part ? part.data : undefined;
      const { title, url } = part.type === 'source' ? part : {};
      return [
        {
          type: part.type,
          ...(mediaType !== undefined && { media_type: ink.text(mediaType) }),
          ...(filename !== undefined && { filename: ink.text(filename) }),
          ...(data !== undefined && { bytes: bytesOf(data) }),
          ...(title !== undefined && { title: ink.text(title) }),
          ...(isOnTheWeb(url) && { url: ink.text(url) }),
        },
      ];
    }
    case 'provider':
      return [{ type: 'provider' }];
    case 'text':
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return [];
  }
}

/** What an assistant decided in plain words, without the arguments: those stand as JSON behind the tool's name, in the last line. */
function withoutArgs(words: string): string | undefined {
  const from = words.lastIndexOf('\n') + 1;
  const [action] = /^Action: \S+/.exec(words.slice(from)) ?? [];
  return action === undefined ? undefined : words.slice(0, from) + action;
}

interface Words {
  readonly content: string;
  readonly omitted: readonly SlimOmission[];
}

// Models without tool calling make calls and read results in plain words. A fixed text is never cut.
function writeWords(message: Message, ink: SlimInk): Words {
  const { includeToolArgs, includeToolResults } = ink.config;
  const purpose = message.isAssistant() ? message.metadata['purpose'] : undefined;
  if (!includeToolResults && isObservation(message)) return { content: resultLeftOut, omitted: [SlimOmission.ToolResults] };
  if (includeToolArgs || (purpose !== 'action' && purpose !== 'undecided')) return { content: ink.text(message.text), omitted: [] };
  const action = purpose === 'action' ? withoutArgs(message.text) : undefined;
  return { content: action === undefined ? argsLeftOut : ink.text(action), omitted: [SlimOmission.ToolArgs] };
}

function omissionsOf({ toolCalls, toolResults }: Message, { config }: SlimInk): readonly SlimOmission[] {
  return [
    ...(toolCalls.length > 0 && !config.includeToolArgs ? [SlimOmission.ToolArgs] : []),
    ...(toolResults.length > 0 && !config.includeToolResults ? [SlimOmission.ToolResults] : []),
  ];
}

/** A message as it is shown. */
export function writeMessage(message: Message, ink: SlimInk): SlimMessage {
  const { reasoning, toolCalls, toolResults, parts, metadata } = message;
  const words = writeWords(message, ink);
  const omitted = [...words.omitted, ...omissionsOf(message, ink)];
  const attachments = parts.flatMap((part) => writeAttachment(part, ink));
  // What is left out must not stand in the metadata either.
  const noted = ink.config.includeMetadata && omitted.length === 0 ? ink.fields(metadata).fields : {};
  return {
    id: ink.name(message.id),
    role: message.role,
    ...(message.name !== undefined && { name: ink.name(message.name) }),
    content: words.content,
    ...(reasoning !== '' && { reasoning: ink.text(reasoning) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => writeCall(call, ink)) }),
    ...(toolResults.length > 0 && { tool_results: toolResults.map((result) => writeResult(result, ink)) }),
    ...(attachments.length > 0 && { attachments }),
    ...(Object.keys(noted).length > 0 && { metadata: noted }),
    ...(omitted.length > 0 && { omitted }),
  };
}
