// Our messages in the AI SDK's words.
// What a provider gave us as metadata goes back to it as options, untouched (M10).
import type { Json, JsonObject } from '../../lib/index.ts';
import { assertNever, isRecord, parseJsonText } from '../../lib/index.ts';
import type {
  Attachment,
  ContentPart,
  Message,
  Part,
  ProviderPart,
  ToolCallPart,
  ToolOutput,
  ToolResultPart,
} from '../../messages/index.ts';
import { findAttachmentProblem, toLeftOutText } from '../../messages/index.ts';
import { toSentName } from './call-names.ts';
import type { PromptMessage, PromptPart } from './prompt.ts';
import { withOptions } from './prompt.ts';
import type { SentCalls } from './sent-calls.ts';
import { showFiles } from './show-files.ts';
import type { Reader } from './to-file-part.ts';
import { toFilePart, toFileResult } from './to-file-part.ts';

/** The model that a conversation is written for, the calls before, and a listener to what is left out. */
export interface PromptContext extends Reader {
  readonly calls: SentCalls;
  readonly warn: (message: string) => void;
}

function isFamily(provider: string, other: string): boolean {
  return provider.split('.')[0] === other.split('.')[0];
}

// What a model may read of its own again; other parts are kept for display, and no provider is asked to read what it may not know.
const readable: ReadonlySet<unknown> = new Set(['custom', 'reasoning-file', 'text', 'tool-approval-response']);

// An address is stored as text, and sent as a URL.
function reviveUrl(data: Json): unknown {
  if (!isRecord(data) || data['type'] !== 'url' || typeof data['url'] !== 'string') return data;
  return URL.canParse(data['url']) ? { type: 'url', url: new URL(data['url']) } : undefined;
}

// A provider's own part goes back in the form in which it came, to that provider only.
function toProviderPart(part: ProviderPart, { provider, warn }: PromptContext): PromptPart | undefined {
  if (!isFamily(part.provider, provider)) return undefined;
  const data: Readonly<Record<string, Json>> = isRecord(part.data) ? part.data : {};
  const { type } = data;
  // An approval is asked for by the provider; only the answer to it goes back.
  if (type === 'tool-approval-request') return undefined;
  if (typeof type !== 'string' || !readable.has(type)) {
    warn(`A part of ${part.provider} of the type ${JSON.stringify(type ?? null)} cannot be sent back; it was left out.`);
    return undefined;
  }
  if (data['data'] === undefined) return withOptions({ ...data, type }, part.providerMetadata);
  const revived = reviveUrl(data['data']);
  if (revived !== undefined) return withOptions({ ...data, type, data: revived }, part.providerMetadata);
  warn(`A part of ${part.provider} of the type ${JSON.stringify(type)} has an address that is not a URL; it was left out.`);
  return undefined;
}

// A conversation that was stored by an earlier version, or made by hand, may hold anything.
function toUnreadableText(part: Attachment, { warn }: PromptContext): PromptPart | undefined {
  const problem = findAttachmentProblem(part);
  if (problem === undefined) return undefined;
  const text = toLeftOutText(part, `its ${problem.field} is not ${problem.expected}`);
  warn(`No model can read an attachment; words stand in its place: ${text}`);
  return { type: 'text', text };
}

// Words that are none and carry something for the provider are a piece of the provider's own, such as a reference to a tool.
function toContent(part: ContentPart, context: PromptContext): PromptPart {
  if (part.type !== 'text') return toUnreadableText(part, context) ?? toFileResult(part, context);
  const isOwn = part.text === '' && part.providerMetadata !== undefined;
  return withOptions(isOwn ? { type: 'custom' } : { type: 'text', text: part.text }, part.providerMetadata);
}

type Output = Readonly<Record<string, unknown>>;

function toOutput(output: ToolOutput, isProviders: boolean, context: PromptContext): Output {
  switch (output.type) {
    case 'text':
    case 'json':
      return output;
    case 'error':
      return isProviders ? { type: 'error-json', value: parseOrKeep(output.value) } : { type: 'error-text', value: output.value };
    case 'content':
      return { type: 'content', value: output.parts.map((part) => toContent(part, context)) };
    case 'rejected':
      return { type: 'execution-denied', ...(output.reason !== '' && { reason: output.reason }) };
    default:
      return assertNever(output);
  }
}

// What a provider's own tool said went wrong was JSON when it came.
function parseOrKeep(text: string): unknown {
  return (/^[[{]/.test(text) ? parseJsonText(text) : undefined) ?? text;
}

function mergeOptions(base: JsonObject | undefined, own: JsonObject | undefined): JsonObject | undefined {
  if (base === undefined || own === undefined) return own ?? base;
  const each = Object.entries(own).map(([provider, options]) => {
    const before = base[provider];
    return [provider, isRecord(before) && isRecord(options) ? { ...before, ...options } : options] as const;
  });
  return { ...base, ...Object.fromEntries(each) };
}

function toResult(part: ToolResultPart, context: PromptContext): PromptPart {
  const { calls } = context;
  const isProviders = part.providerExecuted === true;
  // Some providers want to read with a result what they gave us with its call.
  const options = mergeOptions(calls.getMetadata(part.toolCallId), part.providerMetadata);
  const result = {
    type: 'tool-result',
    toolCallId: calls.getResultId(part),
    toolName: isProviders ? part.toolName : toSentName(part.toolName),
    output: toOutput(part.output, isProviders, context),
  };
  return withOptions(result, options);
}

function toCall(part: ToolCallPart, calls: SentCalls): PromptPart {
  const { toolName, args, rawArgs, providerExecuted } = part;
  const call = {
    type: 'tool-call',
    toolCallId: calls.addCall(part),
    toolName: providerExecuted === true ? toolName : toSentName(toolName),
    // Arguments that are not JSON cannot be sent back: providers refuse the whole conversation for them.
    input: rawArgs === undefined ? args : {},
  };
  return withOptions(providerExecuted === undefined ? call : { ...call, providerExecuted }, part.providerMetadata);
}

function isSilent(part: Part): boolean {
  return part.type === 'text' && part.text === '' && part.providerMetadata === undefined;
}

function toPromptPart(part: Part, context: PromptContext): PromptPart | undefined {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return isSilent(part) ? undefined : withOptions({ type: part.type, text: part.text }, part.providerMetadata);
    case 'image':
    case 'file':
      return toUnreadableText(part, context) ?? toFilePart(part, context);
    case 'tool-call':
      return toCall(part, context.calls);
    case 'tool-result':
      return toResult(part, context);
    case 'provider':
      return toProviderPart(part, context);
    case 'source':
      // No provider reads its sources again.
      return undefined;
    default:
      return assertNever(part);
  }
}

const allowedParts: Readonly<Record<'user' | 'assistant' | 'tool', ReadonlySet<Part['type']>>> = {
  user: new Set(['text', 'image', 'file', 'provider']),
  assistant: new Set(['text', 'reasoning', 'image', 'file', 'tool-call', 'tool-result', 'provider', 'source']),
  tool: new Set(['tool-result', 'provider']),
};

function toMessage(message: Message, context: PromptContext): PromptMessage | undefined {
  const { role, providerOptions } = message;
  if (role === 'system' || role === 'developer') return toSystemMessage(message);
  const written = message.parts.map((part) => {
    if (allowedParts[role].has(part.type)) return toPromptPart(part, context);
    context.warn(`A ${role} message cannot hold a ${part.type} part; it was left out.`);
    return undefined;
  });
  const content = written.includes(undefined) ? written.filter((part) => part !== undefined) : (written as PromptPart[]);
  return content.length === 0 ? undefined : withOptions({ role, content }, providerOptions);
}

function addOptions(part: PromptPart, options: JsonObject | undefined): PromptPart {
  return options === undefined ? part : { ...part, providerOptions: { ...options, ...part.providerOptions } };
}

// We keep one message per result; providers want the results of one turn together. The options of a message are those of its last part.
function joinResults(messages: readonly PromptMessage[]): PromptMessage | undefined {
  const last = messages.at(-1);
  if (last === undefined || messages.length === 1) return last;
  const content: PromptPart[] = [];
  for (const message of messages) {
    if (typeof message.content === 'string') continue;
    const options = message === last ? undefined : message.providerOptions;
    const end = message.content.at(-1);
    for (const part of message.content) content.push(part === end ? addOptions(part, options) : part);
  }
  return withOptions({ role: 'tool' as const, content }, last.providerOptions);
}

const isResult = ({ role }: PromptMessage): boolean => role === 'tool';

/** Converts instructions. */
export function toSystemMessage(message: Message): PromptMessage {
  return withOptions({ role: 'system' as const, content: message.text }, message.providerOptions);
}

/** Converts one message, or all results of one turn. Returns nothing for a message that says nothing to the provider. */
export function toPromptMessages(unit: readonly Message[], context: PromptContext): readonly PromptMessage[] {
  const [first] = unit;
  const messages = context.provider.endsWith('.chat') && first?.isTool() === true ? showFiles(unit) : unit;
  if (messages === unit && unit.length === 1 && first !== undefined) {
    const only = toMessage(first, context);
    return only === undefined ? [] : [only];
  }
  const written: PromptMessage[] = [];
  for (const message of messages) {
    const converted = toMessage(message, context);
    if (converted !== undefined) written.push(converted);
  }
  if (written.length < 2) return written;
  const results = joinResults(written.filter(isResult));
  const others = written.filter((message) => !isResult(message));
  return results === undefined ? others : [results, ...others];
}
