// UI messages as messages of a conversation.
// F1. Each step of an assistant's UI message is a message, and each result of a call one more.
// F2. A call without a result stays one: whoever runs the conversation decides what becomes of it.
// F3. Data parts and approvals are not part of a conversation, and are left out.
import type { UIMessage } from 'ai';
import type { Json, JsonObject } from '../../../lib/index.ts';
import { isRecord, omitUndefined, readField } from '../../../lib/index.ts';
import type { Part, ToolCallPart, ToolOutput, ToolResult } from '../../../messages/index.ts';
import { Message, toolCallPart } from '../../../messages/index.ts';
import { readFileContent, toFile } from './file-data.ts';

type UIPart = UIMessage['parts'][number];
type ToolPart = Extract<UIPart, { toolCallId: string }>;

const isToolPart = (part: UIPart): part is ToolPart => part.type === 'dynamic-tool' || part.type.startsWith('tool-');
const getToolName = (part: ToolPart): string => (part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length));

// Holds: metadata is JSON, as everything that a page sends.
const toExtras = (metadata: unknown): { readonly providerMetadata?: JsonObject } =>
  metadata === undefined ? {} : { providerMetadata: metadata as JsonObject };

/** Reads a part that is not about a call. */
function toParts(part: UIPart): readonly Part[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, ...toExtras(part.providerMetadata) }];
    case 'file': {
      const content = readFileContent(part.url);
      return content === undefined ? [] : [toFile(content, part, toExtras(part.providerMetadata))];
    }
    case 'source-url': {
      const { sourceId: id, url, title } = part;
      return [{ type: 'source', sourceType: 'url', id, url, ...omitUndefined({ title }), ...toExtras(part.providerMetadata) }];
    }
    case 'source-document': {
      const { sourceId: id, mediaType, title, filename } = part;
      const named = title === '' ? {} : { title };
      const facts = omitUndefined({ filename });
      return [{ type: 'source', sourceType: 'document', id, mediaType, ...named, ...facts, ...toExtras(part.providerMetadata) }];
    }
    default:
      return [];
  }
}

function toCall(part: ToolPart): ToolCallPart {
  // Holds: the input of a call is JSON.
  const args = (part.input ?? null) as Json;
  const rawInput = readField(part, 'rawInput');
  const rawArgs = part.state === 'output-error' && typeof rawInput === 'string' ? rawInput : undefined;
  return toolCallPart({
    id: part.toolCallId,
    name: getToolName(part),
    args,
    ...omitUndefined({ rawArgs, providerExecuted: part.providerExecuted }),
    ...toExtras(part.callProviderMetadata),
  });
}

/** Reads a result that consists of parts. */
function readContent(output: unknown): ToolOutput | undefined {
  if (!isRecord(output) || output['type'] !== 'content' || !Array.isArray(output['value'])) return undefined;
  const parts = output['value'].flatMap((part: UIPart) => toParts(part));
  const content = parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file');
  return content.length === output['value'].length ? { type: 'content', parts: content } : undefined;
}

function toOutput(part: ToolPart): ToolOutput | undefined {
  switch (part.state) {
    case 'output-available': {
      const { output } = part;
      if (typeof output === 'string') return { type: 'text', value: output };
      // Holds: the output of a call is JSON.
      return readContent(output) ?? { type: 'json', value: (output ?? null) as Json };
    }
    case 'output-error':
      return { type: 'error', value: part.errorText };
    case 'output-denied':
      return { type: 'rejected', reason: part.approval.reason ?? '' };
    case 'approval-responded':
      return part.approval.approved ? undefined : { type: 'rejected', reason: part.approval.reason ?? '' };
    default:
      return undefined;
  }
}

function toResult(part: ToolPart): readonly ToolResult[] {
  const output = toOutput(part);
  if (output === undefined) return [];
  const metadata = 'resultProviderMetadata' in part ? part.resultProviderMetadata : undefined;
  return [{ toolCallId: part.toolCallId, toolName: getToolName(part), output, ...toExtras(metadata) }];
}

function toStep(parts: readonly UIPart[], options: { readonly id?: string; readonly metadata?: JsonObject }): readonly Message[] {
  const said = parts.flatMap((part): readonly Part[] => {
    if (!isToolPart(part)) return toParts(part);
    // A provider that runs a tool answers in the same message.
    const own = part.providerExecuted === true ? toResult(part).map((result) => ({ type: 'tool-result', ...result }) as const) : [];
    return part.state === 'input-streaming' ? [] : [toCall(part), ...own];
  });
  if (said.length === 0) return [];
  const results = parts.filter(isToolPart).filter(({ providerExecuted }) => providerExecuted !== true);
  return [Message.assistant(said, options), ...results.flatMap(toResult).map((result) => Message.tool(result))];
}

function toSteps({ parts }: UIMessage): readonly (readonly UIPart[])[] {
  const steps: UIPart[][] = [[]];
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps.filter((step) => step.length > 0);
}

function fromUIMessage(message: UIMessage): readonly Message[] {
  const { id, role, metadata, parts } = message;
  const given = isRecord(metadata) ? { metadata: metadata as JsonObject } : {};
  if (role === 'assistant') return toSteps(message).flatMap((step, index) => toStep(step, index === 0 ? { id, ...given } : {}));
  const content = parts.flatMap((part) => toParts(part));
  return content.length === 0 ? [] : [Message.of(role, content, { id, ...given })];
}

/** Converts UI messages to messages of a conversation. Give an agent only those that you trust: `chatRoutes()` reads none from a page. */
export const fromUIMessages = (messages: readonly UIMessage[]): Message[] => messages.flatMap(fromUIMessage);
