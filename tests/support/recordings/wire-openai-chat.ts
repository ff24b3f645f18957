import type { ModelSettings, OfferedTool, ToolChoice } from '../../../src/inference/index.ts';
import type { ContentPart, Part, ToolOutput } from '../../../src/messages/index.ts';
import { Message, reasoningPart, textPart, toolCallPart, toolResultText } from '../../../src/messages/index.ts';
import type { Fields } from './loose.ts';
import { toFields, toJsonObject, toList, optionalText, parseOrText, toText } from './loose.ts';
import type { Wire, WireAnswer, WireCall } from './wire-conversation.ts';
import { readCount, fileFromUrl, readFile, readOutput, readUsage } from './wire-conversation.ts';

function contentPart(item: Fields): ContentPart {
  switch (item['type']) {
    case 'image_url':
      return fileFromUrl(toText(toFields(item['image_url'])['url']), 'image');
    case 'input_audio': {
      const { data, format } = toFields(item['input_audio']);
      return readFile(format === 'mp3' ? 'audio/mpeg' : `audio/${toText(format)}`, { data: toText(data) });
    }
    case 'file': {
      const { file_data: data, file_id: id, filename } = toFields(item['file']);
      if (toText(id) !== '') return { type: 'file', mediaType: 'application/pdf', id: toText(id) };
      return fileFromUrl(toText(data), 'application/pdf', optionalText(filename));
    }
    default:
      return textPart(toText(item['text']));
  }
}

function contentParts(content: unknown): readonly ContentPart[] {
  return typeof content === 'string' ? [textPart(content)] : toList(content).map(contentPart);
}

function assistant(message: Fields): Message {
  const { content, reasoning_content: thought, reasoning, tool_calls: calls } = message;
  const thinking = toText(thought) === '' ? toText(reasoning) : toText(thought);
  const parts: readonly Part[] = [
    ...(thinking === '' ? [] : [reasoningPart(thinking)]),
    ...contentParts(content ?? []),
    ...toList(calls).map((call) => {
      const { name, arguments: args } = toFields(call['function']);
      return toolCallPart({ id: toText(call['id']), name: toText(name), args: parseOrText(toText(args)) });
    }),
  ];
  return Message.assistant(parts);
}

function mapNames(messages: readonly Fields[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => toList(message['tool_calls']));
  return new Map(calls.map((call) => [toText(call['id']), toText(toFields(call['function'])['name'])]));
}

// A result is text; several pieces of it are one text.
function readResult(content: unknown): ToolOutput {
  return { type: 'text', value: toolResultText({ type: 'content', parts: contentParts(content) }) };
}

function toMessage(message: Fields, names: ReadonlyMap<string, string>): Message {
  const { role, content, tool_call_id: id } = message;
  switch (role) {
    case 'system':
    case 'developer':
      return Message.of(role, contentParts(content));
    case 'assistant':
      return assistant(message);
    case 'tool': {
      const toolCallId = toText(id);
      return Message.tool({
        toolCallId,
        toolName: names.get(toolCallId) ?? toText(message['name']),
        output: readResult(content),
      });
    }
    default:
      return Message.user(contentParts(content));
  }
}

function toTool(tool: Fields): OfferedTool {
  const { name, description, parameters } = toFields(tool['function']);
  return { name: toText(name), description: toText(description), inputSchema: toJsonObject(parameters) };
}

/** A choice among tools as OpenAI spells it. */
export function readToolChoice(choice: unknown): { readonly toolChoice?: ToolChoice } {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { toolChoice: choice };
  const named = optionalText(toFields(choice)['name']) ?? optionalText(toFields(toFields(choice)['function'])['name']);
  return named === undefined ? {} : { toolChoice: { tool: named } };
}

function readSettings(body: Fields): ModelSettings {
  const limit = readCount(body['max_completion_tokens']) ?? readCount(body['max_tokens']);
  return { ...readToolChoice(body['tool_choice']), ...(limit !== undefined && { maxOutputTokens: limit }) };
}

interface Draft {
  id: string;
  name: string;
  args: string;
}

function gather(drafts: Map<unknown, Draft>, delta: Fields): void {
  for (const [position, call] of toList(delta['tool_calls']).entries()) {
    const { name, arguments: args } = toFields(call['function']);
    const key = call['index'] ?? position;
    const draft = drafts.get(key) ?? { id: '', name: '', args: '' };
    drafts.set(key, {
      id: draft.id === '' ? toText(call['id']) : draft.id,
      name: draft.name === '' ? toText(name) : draft.name,
      args: draft.args + toText(args),
    });
  }
}

// Magistral thinks in a list of parts; only those of type text are said.
function saidIn(content: unknown): string {
  return typeof content === 'string'
    ? content
    : toList(content)
        .map((part) => (part['type'] === 'text' ? toText(part['text']) : ''))
        .join('');
}

// xAI counts its thinking beside the completion, all others count it within; the total tells which of the two it is.
function isThinkingBeside(usage: Fields, reasoning: number): boolean {
  const [input, output] = [readCount(usage['prompt_tokens']), readCount(usage['completion_tokens'])];
  return reasoning > 0 && usage['total_tokens'] === (input ?? 0) + (output ?? 0) + reasoning;
}

function readTokens(usage: Fields): Pick<WireAnswer, 'usage'> {
  const said = readCount(usage['completion_tokens']);
  const reasoning = readCount(toFields(usage['completion_tokens_details'])['reasoning_tokens']);
  const isBeside = said !== undefined && reasoning !== undefined && isThinkingBeside(usage, reasoning);
  return readUsage({
    input: usage['prompt_tokens'],
    output: isBeside ? said + reasoning : said,
    cacheRead: toFields(usage['prompt_tokens_details'])['cached_tokens'] ?? usage['prompt_cache_hit_tokens'],
    reasoning,
  });
}

function readAnswer(body: Fields | readonly Fields[]): WireAnswer {
  const events: readonly Fields[] = Array.isArray(body) ? (body as readonly Fields[]) : [body as Fields];
  const drafts = new Map<unknown, Draft>();
  let text = '';
  let usage: Fields = {};
  let hasEnded = false;
  for (const event of events) {
    const choice = toList(event['choices']).find(({ index }) => index === 0 || index === undefined) ?? {};
    const said = toFields(choice['delta'] ?? choice['message']);
    text += saidIn(said['content']) + toText(said['refusal']) + toText(choice['text']);
    gather(drafts, said);
    hasEnded ||= toText(choice['finish_reason']) !== '';
    usage = { ...usage, ...toFields(event['usage'] ?? toFields(event['x_groq'])['usage']) };
  }
  const calls: readonly WireCall[] = [...drafts.values()].map(({ id, name, args }) => ({
    ...(id !== '' && { id }),
    name,
    args: parseOrText(args === '' ? '{}' : args),
  }));
  const isBroken = !hasEnded || events.some((event) => event['error'] !== undefined && event['error'] !== null);
  return { text, calls, ...readTokens(usage), signatures: [], isBroken };
}

/** OpenAI's chat completions, which many providers speak. */
export const openAiChatWire: Wire = {
  readConversation: (body) => {
    const messages = toList(body['messages']);
    const names = mapNames(messages);
    const { json_schema: schema } = toFields(body['response_format']);
    return {
      messages: messages.map((message) => toMessage(message, names)),
      tools: toList(body['tools']).map(toTool),
      settings: readSettings(body),
      ...readOutput(toFields(schema)['schema'], toFields(schema)['name']),
    };
  },
  readAnswer,
};
