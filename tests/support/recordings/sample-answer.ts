import type { WireApi } from '../../../src/testing/node/index.ts';

/** An answer in a provider's own form: as a whole, and as the events of a stream. It says "Hello" and calls `get_weather`. */
export interface SampleAnswer {
  readonly body: object;
  readonly events: readonly string[];
}

const args = '{"city":"Paris"}';
const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const toNamedEvent = (data: { readonly type: string; readonly [field: string]: unknown }): string => `event: ${data.type}\n${event(data)}`;

function chat(): SampleAnswer {
  const base = { id: 'chatcmpl-1', created: 1, model: 'sample' };
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: args } };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    event({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  return {
    body: {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', tool_calls: [call] }, finish_reason: 'tool_calls' }],
      usage,
    },
    events: [
      chunk({ role: 'assistant', content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({ tool_calls: [{ index: 0, ...call }] }),
      chunk({}, 'tool_calls'),
      event({ ...base, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ],
  };
}

function responses(): SampleAnswer {
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
  };
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get_weather', arguments: args, status: 'completed' };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'sample',
    status: 'completed',
    output: [message, call],
    usage,
  };
  const { usage: _, ...begun } = { ...response, status: 'in_progress', output: [] };
  return {
    body: response,
    events: [
      event({ type: 'response.created', response: begun }),
      event({ type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } }),
      event({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hello' }),
      event({ type: 'response.output_item.done', output_index: 0, item: message }),
      event({ type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } }),
      event({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: args }),
      event({ type: 'response.output_item.done', output_index: 1, item: call }),
      event({ type: 'response.completed', response }),
    ],
  };
}

function anthropic(): SampleAnswer {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'sample', stop_sequence: null };
  return {
    body: {
      ...message,
      content: [
        { type: 'text', text: 'Hello' },
        { ...call, input: { city: 'Paris' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 5 },
    },
    events: [
      toNamedEvent({
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } },
      }),
      toNamedEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      toNamedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
      toNamedEvent({ type: 'content_block_stop', index: 0 }),
      toNamedEvent({ type: 'content_block_start', index: 1, content_block: call }),
      toNamedEvent({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: args } }),
      toNamedEvent({ type: 'content_block_stop', index: 1 }),
      toNamedEvent({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } }),
      toNamedEvent({ type: 'message_stop' }),
    ],
  };
}

function google(): SampleAnswer {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  const text = { text: 'Hello' };
  const call = { functionCall: { name: 'get_weather', args: { city: 'Paris' } } };
  const chunk = (parts: readonly object[], rest: object = {}): object => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
    usageMetadata,
  });
  return {
    body: chunk([text, call], { finishReason: 'STOP' }),
    events: [event(chunk([text])), event(chunk([call])), event(chunk([], { finishReason: 'STOP' }))],
  };
}

const samples: Readonly<Record<WireApi, () => SampleAnswer>> = {
  'openai-responses': responses,
  'openai-chat': chat,
  'openai-completion': chat,
  anthropic,
  google,
};

/** A good answer in this form. */
export const sampleAnswer = (api: WireApi): SampleAnswer => samples[api]();

/** An error in the form in which this kind of provider puts it into a body. */
export function errorBody(api: WireApi, status: number, message: string): object {
  if (api === 'anthropic') return { type: 'error', error: { type: status === 529 ? 'overloaded_error' : 'api_error', message } };
  if (api === 'google') return { error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL' } };
  return { error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', param: null, code: null } };
}
