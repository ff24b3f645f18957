// The table of failures in the specification, row by row, on each path whose cell is not empty: whatever a failure looks like
// on a path, it comes out as the same kind, with the same delay.
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../errors/index.ts';
import { Message } from '../../messages/index.ts';
import type { Fault } from '../../../tests/support/recordings/fault-server.ts';
import type { WireApi } from '../../testing/node/index.ts';
import { connectModel } from '../../testing/node/index.ts';
import { startFaultServer } from '../../../tests/support/recordings/fault-server.ts';
import type { Model, ModelOutcome } from '../index.ts';
import { aiSdk } from './index.ts';

type Mode = 'generate' | 'stream';

interface Path {
  readonly provider: string;
  readonly api: WireApi;
}

const responses: Path = { provider: 'openai', api: 'openai-responses' };
const chat: Path = { provider: 'openai', api: 'openai-chat' };
const anthropic: Path = { provider: 'anthropic', api: 'anthropic' };
const google: Path = { provider: 'google', api: 'google' };
const compatible: Path = { provider: 'compatible', api: 'openai-chat' };
const all = [responses, chat, anthropic, google, compatible];

interface Row {
  readonly name: string;
  readonly fault: Fault | ((path: Path) => Fault);
  readonly modes: readonly Mode[];
  readonly paths?: readonly Path[];
  readonly expected: Partial<Failure>;
  /** Parts kept for display. */
  readonly partial?: string;
}

const both: readonly Mode[] = ['generate', 'stream'];
const stream: readonly Mode[] = ['stream'];
const status = (code: number, rest: Partial<Extract<Fault, { type: 'status' }>> = {}): Fault => ({ type: 'status', status: code, ...rest });
const retryInfo = {
  error: {
    code: 429,
    message: 'Quota exceeded for metric.',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }],
  },
};
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

const tooLong: Readonly<Record<string, object>> = {
  'openai-responses': {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
  'openai-chat': {
    error: {
      message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: null,
    },
  },
  anthropic: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 205000 tokens > 200000 maximum' } },
  google: {
    error: {
      code: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    },
  },
};

const rows: readonly Row[] = [
  { name: '400', fault: status(400), modes: both, expected: { type: 'model', retryable: false } },
  { name: '401', fault: status(401), modes: both, expected: { type: 'model', retryable: false, code: 'unauthorized' } },
  { name: '403', fault: status(403), modes: both, expected: { type: 'model', retryable: false, code: 'unauthorized' } },
  { name: '404', fault: status(404), modes: both, expected: { type: 'model', retryable: false, code: 'not-found' } },
  { name: '422', fault: status(422), modes: both, expected: { type: 'model', retryable: false } },
  { name: '408', fault: status(408), modes: both, expected: { type: 'timeout', retryable: true } },
  {
    name: '429 with retry-after in seconds',
    fault: status(429, { headers: { 'retry-after': '7' } }),
    modes: both,
    expected: { type: 'rate_limit', retryable: true, retryAfterMs: 7000 },
  },
  {
    name: '429 with retry-after-ms',
    fault: status(429, { headers: { 'retry-after-ms': '1500', 'retry-after': '2' } }),
    modes: both,
    expected: { type: 'rate_limit', retryable: true, retryAfterMs: 1500 },
  },
  {
    name: '429 with retry-after as a date',
    fault: status(429, { headers: { 'retry-after': 'Thu, 01 Jan 1970 00:01:30 GMT' } }),
    modes: both,
    expected: { type: 'rate_limit', retryable: true, retryAfterMs: 30_000 },
  },
  { name: '429 without a delay', fault: status(429), modes: both, expected: { type: 'rate_limit', retryable: true } },
  { name: '500', fault: status(500), modes: both, expected: { type: 'model', retryable: true } },
  {
    name: '502 as a page',
    fault: status(502, { body: '<html><body><h1>502 Bad Gateway</h1></body></html>' }),
    modes: both,
    expected: { type: 'model', retryable: true },
  },
  {
    name: '503 with retry-after',
    fault: status(503, { headers: { 'retry-after': '3' } }),
    modes: both,
    expected: { type: 'model', retryable: true, retryAfterMs: 3000 },
  },
  { name: '504', fault: status(504), modes: both, expected: { type: 'timeout', retryable: true } },
  { name: '529', fault: status(529), modes: both, expected: { type: 'rate_limit', retryable: true } },
  {
    name: 'a conversation that is too long',
    fault: ({ api }) => status(400, { body: tooLong[api] ?? {} }),
    modes: both,
    expected: { type: 'model', retryable: false, code: 'context-overflow' },
  },
  { name: 'reset', fault: { type: 'reset' }, modes: both, expected: { type: 'model', retryable: true } },
  {
    name: 'server ends stream early, cleanly',
    fault: { type: 'ends-early' },
    modes: stream,
    expected: { type: 'model', retryable: true },
    partial: 'Hello',
  },
  {
    name: 'socket destroyed mid-stream',
    fault: { type: 'destroyed' },
    modes: stream,
    expected: { type: 'model', retryable: true },
    partial: 'Hello',
  },
  { name: 'empty stream', fault: { type: 'empty-stream' }, modes: stream, expected: { type: 'model', retryable: true } },
  { name: '200 with an error body', fault: { type: 'error-body' }, modes: both, expected: { type: 'model', retryable: true } },
  {
    name: 'one corrupt chunk mid-stream',
    fault: { type: 'corrupt-chunk' },
    modes: stream,
    expected: { type: 'model', retryable: true },
    partial: 'Hello',
  },
  {
    name: 'overload event mid-stream',
    fault: { type: 'event', event: overloaded },
    modes: stream,
    paths: [anthropic],
    expected: { type: 'rate_limit', retryable: true },
    partial: 'Hello',
  },
  {
    name: '429 with RetryInfo',
    fault: status(429, { body: retryInfo }),
    modes: both,
    paths: [google],
    expected: { type: 'rate_limit', retryable: true, retryAfterMs: 34_400 },
  },
];

const sixtySecondsAfterTheEpoch = { now: () => 60_000, monotonic: () => 0, schedule: () => () => {} };

async function ask(path: Path, mode: Mode, fault: Fault): Promise<ModelOutcome> {
  const server = await startFaultServer(fault, path.api);
  try {
    const connected = await connectModel({ ...path, modelId: 'sample', baseURL: server.url });
    const model: Model = aiSdk(connected as never, { clock: sixtySecondsAfterTheEpoch });
    const request = { messages: [Message.user('What is the weather in Paris?')] };
    return mode === 'stream' ? await model.stream(request, () => {}) : await model.generate(request);
  } finally {
    await server.close();
  }
}

function getFailure(outcome: ModelOutcome): Failure {
  if (outcome.ok) throw new Error(`expected a failure, found ${JSON.stringify(outcome.response)}`);
  return outcome.failure;
}

describe('the table of failures', () => {
  const cases = rows.flatMap((row) =>
    (row.paths ?? all).flatMap((path) =>
      row.modes.map((mode) => ({ row, path, mode, title: `${row.name}: ${path.provider} ${path.api}, ${mode}` })),
    ),
  );

  it.each(cases)('$title', async ({ row: { fault, expected, partial }, path, mode }) => {
    const outcome = await ask(path, mode, typeof fault === 'function' ? fault(path) : fault);
    const failure = getFailure(outcome);
    expect(failure).toMatchObject(expected);
    expect(failure.retryAfterMs).toBe(expected.retryAfterMs);
    expect(failure.message.length).toBeLessThan(350);
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
    if (partial !== undefined && !outcome.ok) {
      expect(outcome.partial.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')).toBe(partial);
    }
  });

  it('counts the reasoning that xAI leaves out of its output', async () => {
    const chunk = { id: '1', object: 'chat.completion.chunk', created: 1, model: 'grok' };
    const usage = { prompt_tokens: 12, completion_tokens: 2, total_tokens: 354, completion_tokens_details: { reasoning_tokens: 340 } };
    const events = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
      { ...chunk, choices: [], usage },
    ];
    const outcome = await ask(compatible, 'stream', { type: 'events', events });
    expect(outcome).toMatchObject({ ok: true, response: { usage: { input: 12, output: 342, total: 354, reasoning: 340 } } });
  });

  it('takes the empty answer of background mode for no answer', async () => {
    const body = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'gpt',
      status: 'queued',
      background: true,
      output: [],
      usage: null,
    };
    const outcome = await ask(responses, 'generate', status(200, { body }));
    expect(getFailure(outcome)).toMatchObject({ type: 'model', retryable: true, code: 'empty-response' });
    expect(outcome).toMatchObject({ partial: { usage: { unknownCalls: 1 } } });
  });
});
