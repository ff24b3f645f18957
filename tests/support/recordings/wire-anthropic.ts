import type { Json, JsonObject } from '../../../src/lib/index.ts';
import type { ModelSettings, OfferedTool, ToolChoice } from '../../../src/inference/index.ts';
import type { ContentPart, Part, ToolOutput } from '../../../src/messages/index.ts';
import { Message, reasoningPart, textPart, toolCallPart, toolResultText } from '../../../src/messages/index.ts';
import type { Fields } from './loose.ts';
import { camelCased, toFields, toJsonObject, toJson, toList, optionalText, parseOrText, toText } from './loose.ts';
import type { Wire, WireAnswer, WireCall } from './wire-conversation.ts';
import { readCount, fileFromUrl, readFile, outputFrom, readOutput, providerTool, readUsage } from './wire-conversation.ts';

function sourcePart(block: Fields, fallbackType: string): ContentPart {
  const { type, data, url, file_id: id, media_type: mediaType } = toFields(block['source']);
  if (type === 'url') return fileFromUrl(toText(url), fallbackType);
  if (type === 'file') return { type: 'file', mediaType: fallbackType === 'image' ? 'image/*' : fallbackType, id: toText(id) };
  if (type === 'text') return readFile('text/plain', { data: Buffer.from(toText(data)).toString('base64') });
  return readFile(optionalText(mediaType) ?? fallbackType, { data: toText(data) });
}

function contentPart(block: Fields): ContentPart {
  switch (block['type']) {
    case 'image':
      return sourcePart(block, 'image');
    case 'document':
      return sourcePart(block, 'application/pdf');
    case 'tool_reference':
      return textPart('', { providerMetadata: { anthropic: { type: 'tool-reference', toolName: toText(block['tool_name']) } } });
    default:
      return textPart(toText(block['text']));
  }
}

function contentParts(content: unknown): readonly ContentPart[] {
  return typeof content === 'string' ? [textPart(content)] : toList(content).map(contentPart);
}

function resultOutput(block: Fields): ToolOutput {
  const output = outputFrom(contentParts(block['content'] ?? ''));
  return block['is_error'] === true ? { type: 'error', value: toolResultText(output) } : output;
}

function assistantPart(block: Fields): readonly Part[] {
  switch (block['type']) {
    case 'text':
      return [textPart(toText(block['text']))];
    case 'thinking':
      return [reasoningPart(toText(block['thinking']), { providerMetadata: { anthropic: { signature: toText(block['signature']) } } })];
    case 'redacted_thinking':
      return [reasoningPart('', { providerMetadata: { anthropic: { redactedData: toText(block['data']) } } })];
    case 'tool_use':
      return [toolCallPart({ id: toText(block['id']), name: toText(block['name']), args: toJson(block['input'] ?? {}) })];
    default:
      // What the server itself did comes back with the answer that it was part of.
      return [];
  }
}

function mapNames(messages: readonly Fields[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap((message) => toList(message['content']));
  return new Map(blocks.filter(({ type }) => type === 'tool_use').map((block) => [toText(block['id']), toText(block['name'])]));
}

// Results and words of one turn share a message; here they are told apart, in their order.
function userMessages(message: Fields, names: ReadonlyMap<string, string>): readonly Message[] {
  if (typeof message['content'] === 'string') return [Message.user(message['content'])];
  const blocks = toList(message['content']);
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const rest = blocks.filter(({ type }) => type !== 'tool_result').map(contentPart);
  const answered = results.map((block) => {
    const toolCallId = toText(block['tool_use_id']);
    return Message.tool({ toolCallId, toolName: names.get(toolCallId) ?? '', output: resultOutput(block) });
  });
  return rest.length === 0 ? answered : [...answered, Message.user(rest)];
}

// A system message on the way may hold words, and tools that are added or taken away.
function systemMessage(content: unknown): Message {
  const changes: readonly Json[] = toList(content).flatMap(({ type, tool }) =>
    type === 'tool_addition' || type === 'tool_removal' ? [{ type, toolName: toText(toFields(tool)['name']) }] : [],
  );
  const text =
    typeof content === 'string'
      ? content
      : toList(content)
          .map((block) => toText(block['text']))
          .join('\n')
          .trim();
  return Message.system(text, changes.length > 0 ? { providerOptions: { anthropic: { toolChanges: changes } } } : {});
}

function toMessages(message: Fields, names: ReadonlyMap<string, string>): readonly Message[] {
  if (message['role'] === 'system') return [systemMessage(message['content'])];
  if (message['role'] !== 'assistant') return userMessages(message, names);
  const { content } = message;
  return [Message.assistant(typeof content === 'string' ? content : toList(content).flatMap(assistantPart))];
}

// The AI SDK says it once.
const sdkName = (type: string): string => type.replace(/^tool_search_tool_/, 'tool_search_');

function toTool(tool: Fields): OfferedTool {
  const { type, name, description, input_schema: schema, defer_loading: deferred, ...rest } = tool;
  if (type !== undefined && type !== 'custom') return providerTool(`anthropic.${sdkName(toText(type))}`, toText(name), rest);
  return {
    name: toText(name),
    description: toText(description),
    inputSchema: toJsonObject(schema),
    ...(deferred === true && { providerOptions: { anthropic: { deferLoading: true } } }),
  };
}

const choices: Readonly<Record<string, ToolChoice>> = { auto: 'auto', any: 'required', none: 'none' };

function readSettings(body: Fields): ModelSettings {
  const { type, name } = toFields(body['tool_choice']);
  const toolChoice = type === 'tool' ? { tool: toText(name) } : Object.hasOwn(choices, toText(type)) ? choices[toText(type)] : undefined;
  const maxOutputTokens = readCount(body['max_tokens']);
  const thinking: JsonObject = body['thinking'] === undefined ? {} : { thinking: camelCased(toJsonObject(body['thinking'])) };
  return {
    ...(toolChoice !== undefined && { toolChoice }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(Object.keys(thinking).length > 0 && { providerOptions: { anthropic: thinking } }),
  };
}

function withDelta(block: Fields, delta: Fields): Fields {
  switch (delta['type']) {
    case 'text_delta':
      return { ...block, text: toText(block['text']) + toText(delta['text']) };
    case 'input_json_delta':
      return { ...block, json: toText(block['json']) + toText(delta['partial_json']) };
    case 'signature_delta':
      return { ...block, signature: toText(block['signature']) + toText(delta['signature']) };
    case 'compaction_delta':
      return { ...block, content: toText(block['content']) + toText(delta['content']) };
    default:
      return block;
  }
}

function readBlocks(events: readonly Fields[]): readonly Fields[] {
  const blocks = new Map<unknown, Fields>();
  // Calls that are made by code on the server come whole, with the start of the message.
  const whole = events.filter(({ type }) => type === 'message_start').flatMap((event) => toList(toFields(event['message'])['content']));
  for (const event of events) {
    const { type, index } = event;
    if (type === 'content_block_start') blocks.set(index, toFields(event['content_block']));
    if (type === 'content_block_delta') blocks.set(index, withDelta(blocks.get(index) ?? {}, toFields(event['delta'])));
  }
  return [...whole, ...blocks.values()];
}

function toCall(block: Fields): WireCall {
  const json = optionalText(block['json']);
  return {
    id: toText(block['id']),
    name: toText(block['name']),
    args: json === undefined ? toJson(block['input'] ?? {}) : parseOrText(json),
  };
}

function sum(...counts: readonly unknown[]): number | undefined {
  const given = counts.filter((count) => typeof count === 'number');
  return given.length === 0 ? undefined : given.reduce((total, count) => total + count, 0);
}

// Compaction costs too; it is told apart from the answer, one entry for each.
function readCounts(usage: Fields): readonly [number | undefined, number | undefined] {
  const rounds = toList(usage['iterations']).filter(({ type }) => type === 'compaction' || type === 'message');
  const each = rounds.length > 0 && rounds.some(({ type }) => type === 'compaction') ? rounds : [usage];
  const input = sum(
    ...each.map((round) => readCount(round['input_tokens'])),
    readCount(usage['cache_creation_input_tokens']),
    readCount(usage['cache_read_input_tokens']),
  );
  return [input, sum(...each.map((round) => readCount(round['output_tokens'])))];
}

function readAnswer(body: Fields | readonly Fields[]): WireAnswer {
  const events = Array.isArray(body) ? (body as readonly Fields[]) : undefined;
  const blocks = events === undefined ? toList((body as Fields)['content']) : readBlocks(events);
  const start = toFields(toFields(events?.find(({ type }) => type === 'message_start')?.['message'])['usage']);
  const end = toFields(events?.findLast(({ type }) => type === 'message_delta')?.['usage']);
  const usage = events === undefined ? toFields((body as Fields)['usage']) : { ...start, ...end };
  const [input, output] = readCounts(usage);
  const hasEnded =
    events === undefined ||
    events.some(({ type, delta }) => type === 'message_delta' && toText(toFields(delta)['stop_reason']) !== '') ||
    events.some(({ message }) => toText(toFields(message)['stop_reason']) !== '');
  return {
    text: blocks.map((block) => (block['type'] === 'text' ? toText(block['text']) : '')).join(''),
    calls: blocks.filter((block) => block['type'] === 'tool_use').map(toCall),
    ...readUsage({
      input,
      output,
      cacheRead: usage['cache_read_input_tokens'],
      reasoning: toFields(usage['output_tokens_details'])['thinking_tokens'],
    }),
    signatures: blocks.flatMap(({ type, signature, data, content }) => {
      const byType: Fields = { thinking: signature, redacted_thinking: data, compaction: content };
      return optionalText(byType[toText(type)] ?? '') ?? [];
    }),
    isBroken: !hasEnded || (events?.some(({ type }) => type === 'error') ?? (body as Fields)['type'] === 'error'),
  };
}

function readSystem(system: unknown): readonly Message[] {
  if (typeof system === 'string') return [Message.system(system)];
  return toList(system).map((block) => Message.system(toText(block['text'])));
}

/** Anthropic's messages. */
export const anthropicWire: Wire = {
  readConversation: (body) => {
    const messages = toList(body['messages']);
    const names = mapNames(messages);
    const format = toFields(toFields(body['output_config'])['format'] ?? body['output_format']);
    return {
      messages: [...readSystem(body['system']), ...messages.flatMap((message) => toMessages(message, names))],
      tools: toList(body['tools']).map(toTool),
      settings: readSettings(body),
      ...readOutput(format['schema']),
    };
  },
  readAnswer,
};
