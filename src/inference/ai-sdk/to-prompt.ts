// Our messages in the AI SDK's words.
// What a provider gave us as metadata goes back to it as options, untouched (M10).
import type { Json, JsonObject } from '../../lib/index.ts';
import { assertNever, isRecord, parseJsonText } from '../../lib/index.ts';
import type { ContentPart, Message, Part, ProviderPart, ToolCallPart, ToolOutput, ToolResultPart } from '../../messages/index.ts';
import type { PromptMessage, PromptPart } from './prompt.ts';
import { withOptions } from './prompt.ts';
import { showFiles } from './show-files.ts';
import type { Reader } from './to-file-part.ts';
import { toFilePart, toFileResult } from './to-file-part.ts';

/** The model that the conversation is written for, and a listener to what was left out. */
export interface PromptOptions extends Reader {
  readonly warn: (message: string) => void;
}

type Calls = ReadonlyMap<string, ToolCallPart>;

function isFamily(provider: string, other: string): boolean {
  return provider.split('.')[0] === other.split('.')[0];
}

// What a model may read of its own again; other parts are kept for display, and no provider is asked to read what it may not know.
const readable: ReadonlySet<unknown> = new Set(['custom', 'reasoning-file', 'text', 'tool-approval-response']);

// An address is stored as text, and sent as a URL.
function reviveUrl(data: Json): unknown {
  return isRecord(data) && data['type'] === 'url' && typeof data['url'] === 'string' ? { type: 'url', url: new URL(data['url']) } : data;
}

// A provider's own part goes back in the form in which it came, to that provider only.
function toProviderPart(part: ProviderPart, { provider, warn }: PromptOptions): readonly PromptPart[] {
  if (!isFamily(part.provider, provider)) return [];
  const data: Readonly<Record<string, Json>> = isRecord(part.data) ? part.data : {};
  const { type } = data;
  // An approval is asked for by the provider; only the answer to it goes back.
  if (type === 'tool-approval-request') return [];
  if (typeof type !== 'string' || !readable.has(type)) {
    warn(`A part of ${part.provider} of the type ${JSON.stringify(type ?? null)} cannot be sent back; it was left out.`);
    return [];
  }
  return [withOptions({ ...data, type, ...(data['data'] !== undefined && { data: reviveUrl(data['data']) }) }, part.providerMetadata)];
}

// Words that are none and carry something for the provider are a piece of the provider's own, such as a reference to a tool.
function toContent(part: ContentPart, reader: Reader): PromptPart {
  if (part.type !== 'text') return toFileResult(part, reader);
  const isOwn = part.text === '' && part.providerMetadata !== undefined;
  return withOptions(isOwn ? { type: 'custom' } : { type: 'text', text: part.text }, part.providerMetadata);
}

type Output = Readonly<Record<string, unknown>>;

function toOutput(output: ToolOutput, isProviders: boolean, reader: Reader): Output {
  switch (output.type) {
    case 'text':
    case 'json':
      return output;
    case 'error':
      return isProviders ? { type: 'error-json', value: parseOrKeep(output.value) } : { type: 'error-text', value: output.value };
    case 'content':
      return { type: 'content', value: output.parts.map((part) => toContent(part, reader)) };
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

function toResult(part: ToolResultPart, calls: Calls, reader: Reader): PromptPart {
  const { toolCallId, toolName } = part;
  const output = toOutput(part.output, part.providerExecuted === true, reader);
  // Some providers want to read with a result what they gave us with its call.
  const options = mergeOptions(calls.get(toolCallId)?.providerMetadata, part.providerMetadata);
  return withOptions({ type: 'tool-result', toolCallId, toolName, output }, options);
}

function toCall({ toolCallId, toolName, args, rawArgs, providerExecuted, providerMetadata }: ToolCallPart): PromptPart {
  // Arguments that are no JSON cannot be sent back: providers refuse the whole conversation for them.
  const input = rawArgs === undefined ? args : {};
  const call = { type: 'tool-call', toolCallId, toolName, input, ...(providerExecuted !== undefined && { providerExecuted }) };
  return withOptions(call, providerMetadata);
}

function isSilent(part: Part): boolean {
  return part.type === 'text' && part.text === '' && part.providerMetadata === undefined;
}

function toParts(part: Part, calls: Calls, options: PromptOptions): readonly PromptPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return isSilent(part) ? [] : [withOptions({ type: part.type, text: part.text }, part.providerMetadata)];
    case 'image':
    case 'file':
      return [toFilePart(part, options)];
    case 'tool-call':
      return [toCall(part)];
    case 'tool-result':
      return [toResult(part, calls, options)];
    case 'provider':
      return toProviderPart(part, options);
    case 'source':
      // No provider reads its sources again.
      return [];
    default:
      return assertNever(part);
  }
}

const allowedParts: Readonly<Record<'user' | 'assistant' | 'tool', readonly Part['type'][]>> = {
  user: ['text', 'image', 'file', 'provider'],
  assistant: ['text', 'reasoning', 'image', 'file', 'tool-call', 'tool-result', 'provider', 'source'],
  tool: ['tool-result', 'provider'],
};

function toMessage(message: Message, calls: Calls, options: PromptOptions): readonly PromptMessage[] {
  const { role, parts, providerOptions } = message;
  if (role === 'system' || role === 'developer') return [withOptions({ role: 'system' as const, content: message.text }, providerOptions)];
  const content = parts.flatMap((part) => {
    if (allowedParts[role].includes(part.type)) return toParts(part, calls, options);
    options.warn(`A ${role} message cannot hold a ${part.type} part; it was left out.`);
    return [];
  });
  return content.length === 0 ? [] : [withOptions({ role, content }, providerOptions)];
}

function withLastOptions(parts: readonly PromptPart[], options: JsonObject | undefined): readonly PromptPart[] {
  const last = parts.at(-1);
  return last === undefined || options === undefined
    ? parts
    : [...parts.slice(0, -1), { ...last, providerOptions: { ...options, ...last.providerOptions } }];
}

// We keep one message per result; providers want the results of one turn together.
function addMessage(prompt: PromptMessage[], next: PromptMessage): void {
  const last = prompt.at(-1);
  if (last?.role === 'tool' && next.role === 'tool' && typeof last.content !== 'string' && typeof next.content !== 'string') {
    const content = [...withLastOptions(last.content, last.providerOptions), ...next.content];
    prompt[prompt.length - 1] = withOptions({ role: 'tool', content }, next.providerOptions);
  } else prompt.push(next);
}

/** Writes a conversation for a model. */
export function toPrompt(given: readonly Message[], options: PromptOptions): readonly PromptMessage[] {
  const messages = options.provider.endsWith('.chat') ? showFiles(given) : given;
  const calls = new Map(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part] as const] : []))),
  );
  const prompt: PromptMessage[] = [];
  for (const message of messages.flatMap((each) => toMessage(each, calls, options))) addMessage(prompt, message);
  return prompt;
}
