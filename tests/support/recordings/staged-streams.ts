// Streams written by hand, for what no recording has: each begins with the text "Hello." and a call of `pay`.
import type { StreamBody } from './provider-models.ts';
import { toAmazonEvent, toServerEvent } from './provider-models.ts';

const xaiMessage = { type: 'message', role: 'assistant', id: 'msg_1', status: 'in_progress', content: [] };
const xaiCall = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'pay', arguments: '{"to":"Ann"}' };
export const xaiUsage = { input_tokens: 9, output_tokens: 5 };
const xaiResponse = { id: 'resp_1', object: 'response', model: 'grok', output: [] };
/** A stream of xAI without its end. */
export const xaiBegin: readonly object[] = [
  { type: 'response.created', response: xaiResponse },
  { type: 'response.output_item.added', output_index: 0, item: xaiMessage },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hello.' },
  { type: 'response.output_item.done', output_index: 0, item: { ...xaiMessage, status: 'completed' } },
  { type: 'response.output_item.added', output_index: 1, item: { ...xaiCall, arguments: '' } },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"to":"Ann"}' },
  { type: 'response.output_item.done', output_index: 1, item: xaiCall },
];
/** Creates the end of a stream of xAI. */
export const toXaiEnd = (rest: object): object => ({ type: 'response.completed', response: { ...xaiResponse, ...rest } });

/** A stream of Amazon Bedrock without its end. */
export const amazonBegin = [
  { messageStart: { role: 'assistant' } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hello.' } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'call_1', name: 'pay' } } } },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"to":"Ann"}' } } } },
  { contentBlockStop: { contentBlockIndex: 1 } },
];
export const amazonStop = { messageStop: { stopReason: 'tool_use' } };
export const amazonUsage = { metadata: { usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 } } };

/** Creates a piece of a chat completion. */
export const chatChunk = (delta: object, rest: object = {}): object => ({
  id: 'chat_1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model',
  choices: [{ index: 0, delta }],
  ...rest,
});
/** A chat completion without its end. */
export const chatBegin = [
  chatChunk({ role: 'assistant', content: 'Hello.' }),
  chatChunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{"to":"Ann"}' } }] }),
];
export const chatUsage = { ...chatChunk({}), choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } };

/** Writes a server-sent stream. */
export const toStream = (events: readonly (object | string)[]): string => events.map(toServerEvent).join('');
/** Writes a binary stream of Amazon. */
export const toAmazonStream = (events: readonly Readonly<Record<string, object>>[]): StreamBody => new Blob(events.map(toAmazonEvent));
