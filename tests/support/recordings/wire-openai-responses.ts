import type { JsonObject } from '../../../src/lib/index.ts';
import type { OfferedTool } from '../../../src/inference/index.ts';
import type { ContentPart, Part } from '../../../src/messages/index.ts';
import { Message, reasoningPart, textPart, toolCallPart } from '../../../src/messages/index.ts';
import type { Fields } from './loose.ts';
import { toFields, toJsonObject, toJson, toList, optionalText, parseOrText, toText } from './loose.ts';
import type { Wire, WireAnswer, WireCall } from './wire-conversation.ts';
import { fileFromUrl, outputFrom, readOutput, providerTool, readUsage } from './wire-conversation.ts';
import { readToolChoice } from './wire-openai-chat.ts';

const known = (fields: Readonly<Record<string, string | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined));

function contentPart(item: Fields): ContentPart {
  const id = optionalText(item['file_id']);
  switch (item['type']) {
    case 'input_image':
      return id === undefined ? fileFromUrl(toText(item['image_url']), 'image') : { type: 'file', mediaType: 'image/*', id };
    case 'input_file':
      if (id !== undefined) return { type: 'file', mediaType: 'application/pdf', id };
      return fileFromUrl(optionalText(item['file_url']) ?? toText(item['file_data']), 'application/pdf', optionalText(item['filename']));
    default:
      return textPart(toText(item['text']));
  }
}

function contentParts(content: unknown): readonly ContentPart[] {
  return typeof content === 'string' ? [textPart(content)] : toList(content).map(contentPart);
}

function reasoning(item: Fields): Part {
  const text = toList(item['summary'])
    .map((part) => toText(part['text']))
    .join('\n');
  const metadata = known({ itemId: optionalText(item['id']), reasoningEncryptedContent: optionalText(item['encrypted_content']) });
  return reasoningPart(text, { providerMetadata: { openai: metadata } });
}

function call(item: Fields): Part {
  const metadata = known({ itemId: optionalText(item['id']), namespace: optionalText(item['namespace']) });
  return {
    ...toolCallPart({ id: toText(item['call_id']), name: toText(item['name']), args: parseOrText(toText(item['arguments'])) }),
    ...(Object.keys(metadata).length > 0 && { providerMetadata: { openai: metadata } }),
  };
}

// A search among tools that the client carries out; those of the server are none of our business.
function search(item: Fields): readonly Part[] {
  const id = optionalText(item['call_id']);
  if (item['execution'] !== 'client' || id === undefined) return [];
  return [toolCallPart({ id, name: 'tool_search', args: { arguments: toJson(item['arguments']), call_id: id } })];
}

function assistantParts(item: Fields): readonly Part[] | undefined {
  switch (item['type']) {
    case 'reasoning':
      return [reasoning(item)];
    case 'function_call':
      return [call(item)];
    case 'tool_search_call':
      return search(item);
    case 'message':
    case undefined:
      return item['role'] === 'assistant' ? contentParts(item['content']) : undefined;
    default:
      return undefined;
  }
}

function readResult(item: Fields, names: ReadonlyMap<string, string>): readonly Message[] {
  const toolCallId = toText(item['call_id']);
  if (item['type'] === 'tool_search_output') {
    if (item['execution'] !== 'client') return [];
    return [Message.tool({ toolCallId, toolName: 'tool_search', output: { type: 'json', value: { tools: toJson(item['tools']) } } })];
  }
  return [Message.tool({ toolCallId, toolName: names.get(toolCallId) ?? '', output: outputFrom(contentParts(item['output'])) })];
}

// Tools that become known on the way come with the result before them.
function withMoreTools(messages: readonly Message[], tools: unknown): readonly Message[] {
  const last = messages.at(-1);
  const [result] = last?.toolResults ?? [];
  if (last === undefined || result === undefined) return messages;
  const more = Message.tool({ ...result, providerMetadata: { openai: { additionalTools: toJson(tools) } } });
  return [...messages.slice(0, -1), more];
}

function toMessages(items: readonly Fields[]): readonly Message[] {
  const names = new Map(
    items.filter(({ type }) => type === 'function_call').map((item) => [toText(item['call_id']), toText(item['name'])]),
  );
  let messages: readonly Message[] = [];
  for (const item of items) {
    const said = assistantParts(item);
    const last = messages.at(-1);
    if (said !== undefined) {
      if (said.length === 0) continue;
      messages =
        last?.isAssistant() === true
          ? [...messages.slice(0, -1), last.withParts([...last.parts, ...said])]
          : [...messages, Message.assistant(said)];
    } else if (item['type'] === 'additional_tools') messages = withMoreTools(messages, item['tools']);
    else if (toText(item['type']).endsWith('_output')) messages = [...messages, ...readResult(item, names)];
    else if (item['role'] === 'system' || item['role'] === 'developer')
      messages = [...messages, Message.of(item['role'], contentParts(item['content']))];
    else if (item['role'] === 'user') messages = [...messages, Message.user(contentParts(item['content']))];
  }
  return messages;
}

function toTool(tool: Fields): OfferedTool {
  const { type, name, description, parameters, defer_loading: deferred, ...rest } = tool;
  if (type !== 'function') return providerTool(`openai.${toText(type)}`, toText(type), rest);
  return {
    name: toText(name),
    description: toText(description),
    inputSchema: toJsonObject(parameters),
    ...(deferred === true && { providerOptions: { openai: { deferLoading: true } } }),
  };
}

function readOptions(body: Fields): JsonObject {
  const { include, reasoning: thinking } = body;
  const effort = optionalText(toFields(thinking)['effort']);
  // What was recorded sent its history in full; so do we, instead of pointing at what the provider has stored.
  return {
    store: false,
    passThroughUnsupportedFiles: true,
    ...(Array.isArray(include) && { include: toJson(include) }),
    ...(effort !== undefined && { reasoningEffort: effort }),
  };
}

// A refusal is said, too.
function partsText(item: Fields): string {
  return toList(item['content'])
    .map((part) => toText(part['text'] ?? part['refusal']))
    .join('');
}

// Who carries these out depends on what was offered: a shell may be the provider's own, and xAI names its searches as custom tools.
const uncertainCalls: readonly unknown[] = ['custom_tool_call', 'local_shell_call', 'shell_call', 'apply_patch_call', 'computer_call'];

function isClientCall(item: Fields): boolean {
  const { type, execution } = item;
  return type === 'function_call' || uncertainCalls.includes(type) || (type === 'tool_search_call' && execution === 'client');
}

function toCall(item: Fields): WireCall {
  const { call_id: id, name, arguments: args, type } = item;
  const given = { ...(toText(id) !== '' && { id: toText(id) }), name: optionalText(name) ?? toText(type).replace(/_call$/, '') };
  // Only the arguments of functions are handed on as they are.
  if (type === 'function_call') return { ...given, args: parseOrText(toText(args) === '' ? '{}' : toText(args)) };
  return uncertainCalls.includes(type) ? { ...given, isCertain: false } : given;
}

// Items are told one by one as they are done, and mostly once more at the end.
function readItems(events: readonly Fields[]): readonly Fields[] {
  const done = events.filter(({ type }) => type === 'response.output_item.done').map((event) => toFields(event['item']));
  if (done.length > 0) return done;
  return toList(toFields(events.find(({ type }) => type === 'response.completed')?.['response'])['output']);
}

function readAnswer(body: Fields | readonly Fields[]): WireAnswer {
  const events = Array.isArray(body) ? (body as readonly Fields[]) : undefined;
  const ending = events?.findLast(
    ({ type }) => type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed',
  );
  const response = events === undefined ? (body as Fields) : toFields(ending?.['response']);
  const items = events === undefined ? toList(response['output']) : readItems(events);
  const usage = toFields(response['usage']);
  const failed = response['status'] === 'failed' || (response['error'] !== null && response['error'] !== undefined);
  return {
    text: items
      .filter(({ type }) => type === 'message')
      .map(partsText)
      .join(''),
    calls: items.filter(isClientCall).map(toCall),
    ...readUsage({
      input: usage['input_tokens'],
      output: usage['output_tokens'],
      cacheRead: toFields(usage['input_tokens_details'])['cached_tokens'],
      reasoning: toFields(usage['output_tokens_details'])['reasoning_tokens'],
    }),
    signatures: items.flatMap((item) => (item['type'] === 'reasoning' ? (optionalText(item['encrypted_content']) ?? []) : [])),
    isBroken: failed || (events !== undefined && (ending === undefined || events.some(({ type }) => type === 'error'))),
  };
}

/** OpenAI's responses. */
export const openAiResponsesWire: Wire = {
  readConversation: (body) => {
    const { instructions, input, tools, tool_choice: choice, text } = body;
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : toList(input);
    const format = toFields(toFields(text)['format']);
    return {
      messages: [...(toText(instructions) === '' ? [] : [Message.system(toText(instructions))]), ...toMessages(items)],
      tools: toList(tools).map(toTool),
      settings: { ...readToolChoice(choice), providerOptions: { openai: readOptions(body) } },
      ...readOutput(format['schema'], format['name']),
    };
  },
  readAnswer,
};
