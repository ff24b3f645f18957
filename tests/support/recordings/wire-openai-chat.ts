import type { ModelSettings, OfferedTool, ToolChoice } from '../../../src/inference/index.ts';
import type { ContentPart, Part, ToolOutput } from '../../../src/messages/index.ts';
import { Message, reasoningPart, textPart, toolCallPart, toolResultText } from '../../../src/messages/index.ts';
import type { Fields } from './loose.ts';
import { fieldsOf, jsonObjectOf, listOf, optionalText, parsedOr, textOf } from './loose.ts';
import type { Wire, WireAnswer, WireCall } from './wire-conversation.ts';
import { countOf, fileFromUrl, fileOf, outputOf, usageOf } from './wire-conversation.ts';

function contentPart(item: Fields): ContentPart {
  switch (item['type']) {
    case 'image_url':
      return fileFromUrl(textOf(fieldsOf(item['image_url'])['url']), 'image');
    case 'input_audio': {
      const { data, format } = fieldsOf(item['input_audio']);
      return fileOf(format === 'mp3' ? 'audio/mpeg' : `audio/${textOf(format)}`, { data: textOf(data) });
    }
    case 'file': {
      const { file_data: data, file_id: id, filename } = fieldsOf(item['file']);
      if (textOf(id) !== '') return { type: 'file', mediaType: 'application/pdf', id: textOf(id) };
      return fileFromUrl(textOf(data), 'application/pdf', optionalText(filename));
    }
    default:
      return textPart(textOf(item['text']));
  }
}

function contentParts(content: unknown): readonly ContentPart[] {
  return typeof content === 'string' ? [textPart(content)] : listOf(content).map(contentPart);
}

function assistant(message: Fields): Message {
  const { content, reasoning_content: thought, reasoning, tool_calls: calls } = message;
  const thinking = textOf(thought) === '' ? textOf(reasoning) : textOf(thought);
  const parts: readonly Part[] = [
    ...(thinking === '' ? [] : [reasoningPart(thinking)]),
    ...contentParts(content ?? []),
    ...listOf(calls).map((call) => {
      const { name, arguments: args } = fieldsOf(call['function']);
      return toolCallPart({ id: textOf(call['id']), name: textOf(name), args: parsedOr(textOf(args)) });
    }),
  ];
  return Message.assistant(parts);
}

function namesOf(messages: readonly Fields[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => listOf(message['tool_calls']));
  return new Map(calls.map((call) => [textOf(call['id']), textOf(fieldsOf(call['function'])['name'])]));
}

// A result is text; several pieces of it are one text.
function resultOf(content: unknown): ToolOutput {
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
      const toolCallId = textOf(id);
      return Message.tool({
        toolCallId,
        toolName: names.get(toolCallId) ?? textOf(message['name']),
        output: resultOf(content),
      });
    }
    default:
      return Message.user(contentParts(content));
  }
}

function toTool(tool: Fields): OfferedTool {
  const { name, description, parameters } = fieldsOf(tool['function']);
  return { name: textOf(name), description: textOf(description), inputSchema: jsonObjectOf(parameters) };
}

/** A choice among tools as OpenAI spells it. */
export function toolChoiceOf(choice: unknown): { readonly toolChoice?: ToolChoice } {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { toolChoice: choice };
  const named = optionalText(fieldsOf(choice)['name']) ?? optionalText(fieldsOf(fieldsOf(choice)['function'])['name']);
  return named === undefined ? {} : { toolChoice: { tool: named } };
}

function settingsOf(body: Fields): ModelSettings {
  const limit = countOf(body['max_completion_tokens']) ?? countOf(body['max_tokens']);
  return { ...toolChoiceOf(body['tool_choice']), ...(limit !== undefined && { maxOutputTokens: limit }) };
}

interface Draft {
  id: string;
  name: string;
  args: string;
}

function gather(drafts: Map<unknown, Draft>, delta: Fields): void {
  for (const [position, call] of listOf(delta['tool_calls']).entries()) {
    const { name, arguments: args } = fieldsOf(call['function']);
    const key = call['index'] ?? position;
    const draft = drafts.get(key) ?? { id: '', name: '', args: '' };
    drafts.set(key, {
      id: draft.id === '' ? textOf(call['id']) : draft.id,
      name: draft.name === '' ? textOf(name) : draft.name,
      args: draft.args + textOf(args),
    });
  }
}

// Magistral thinks in a list of parts; only those of type text are said.
function saidIn(content: unknown): string {
  return typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => (part['type'] === 'text' ? textOf(part['text']) : ''))
        .join('');
}

// xAI counts its thinking beside the completion, all others count it within; the total tells which of the two it is.
function isThinkingBeside(usage: Fields, reasoning: number): boolean {
  const [input, output] = [countOf(usage['prompt_tokens']), countOf(usage['completion_tokens'])];
  return reasoning > 0 && usage['total_tokens'] === (input ?? 0) + (output ?? 0) + reasoning;
}

function tokensOf(usage: Fields): Pick<WireAnswer, 'usage'> {
  const said = countOf(usage['completion_tokens']);
  const reasoning = countOf(fieldsOf(usage['completion_tokens_details'])['reasoning_tokens']);
  const isBeside = said !== undefined && reasoning !== undefined && isThinkingBeside(usage, reasoning);
  return usageOf({
    input: usage['prompt_tokens'],
    output: isBeside ? said + reasoning : said,
    cacheRead: fieldsOf(usage['prompt_tokens_details'])['cached_tokens'] ?? usage['prompt_cache_hit_tokens'],
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
    const choice = listOf(event['choices']).find(({ index }) => index === 0 || index === undefined) ?? {};
    const said = fieldsOf(choice['delta'] ?? choice['message']);
    text += saidIn(said['content']) + textOf(said['refusal']) + textOf(choice['text']);
    gather(drafts, said);
    hasEnded ||= textOf(choice['finish_reason']) !== '';
    usage = { ...usage, ...fieldsOf(event['usage'] ?? fieldsOf(event['x_groq'])['usage']) };
  }
  const calls: readonly WireCall[] = [...drafts.values()].map(({ id, name, args }) => ({
    ...(id !== '' && { id }),
    name,
    args: parsedOr(args === '' ? '{}' : args),
  }));
  const isBroken = !hasEnded || events.some((event) => event['error'] !== undefined && event['error'] !== null);
  return { text, calls, ...tokensOf(usage), signatures: [], isBroken };
}

/** OpenAI's chat completions, which many providers speak. */
export const openAiChatWire: Wire = {
  readConversation: (body) => {
    const messages = listOf(body['messages']);
    const names = namesOf(messages);
    const { json_schema: schema } = fieldsOf(body['response_format']);
    return {
      messages: messages.map((message) => toMessage(message, names)),
      tools: listOf(body['tools']).map(toTool),
      settings: settingsOf(body),
      ...outputOf(fieldsOf(schema)['schema'], fieldsOf(schema)['name']),
    };
  },
  readAnswer,
};
