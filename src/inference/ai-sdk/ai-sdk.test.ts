import { describe, expect, it } from 'vitest';
import { createCountingIds } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { ModelDelta, ModelNotice, ModelOutcome, ModelRequest } from '../index.ts';
import { aiSdk, UnsupportedModelError } from './index.ts';

interface Asked {
  readonly outcome: ModelOutcome;
  readonly deltas: readonly ModelDelta[];
  readonly warnings: readonly string[];
  /** Options of the model call. */
  readonly options: Readonly<Record<string, unknown>>;
}

interface Fake {
  readonly version?: 'v3' | 'v4';
  readonly content?: readonly object[];
  readonly finishReason?: unknown;
  readonly usage?: unknown;
  readonly result?: object;
  readonly stream?: readonly object[];
}

const stop = { unified: 'stop', raw: 'stop' };

async function ask(
  { version = 'v4', content = [], finishReason = stop, usage, result, stream }: Fake,
  request: Partial<ModelRequest> = {},
): Promise<Asked> {
  const [deltas, warnings, calls]: [ModelDelta[], string[], Readonly<Record<string, unknown>>[]] = [[], [], []];
  const fake = {
    specificationVersion: version,
    provider: 'fake.chat',
    modelId: 'fake-1',
    doGenerate: async (options: Readonly<Record<string, unknown>>) => {
      calls.push(options);
      return { content, finishReason, usage, warnings: [], ...result };
    },
    doStream: async (options: Readonly<Record<string, unknown>>) => {
      calls.push(options);
      return { stream: ReadableStream.from(stream ?? []) };
    },
  };
  const model = aiSdk(fake, { ids: createCountingIds('own') });
  const onNotice = (notice: ModelNotice): void => {
    if (notice.type === 'warning') warnings.push(notice.message);
  };
  const asked: ModelRequest = { messages: [Message.user('Hi')], onNotice, ...request };
  const outcome = stream === undefined ? await model.generate(asked) : await model.stream(asked, (delta) => deltas.push(delta));
  return { outcome, deltas, warnings, options: calls[0] ?? {} };
}

describe('aiSdk', () => {
  it('says the context window that it was given, and none otherwise', () => {
    const answer = (): Promise<{ readonly stream: object }> => Promise.resolve({ stream: {} });
    const fake = { specificationVersion: 'v4' as const, provider: 'fake', modelId: 'fake-1', doGenerate: answer, doStream: answer };
    expect(aiSdk(fake, { contextWindow: 8000 }).contextWindow).toBe(8000);
    expect(aiSdk(fake)).not.toHaveProperty('contextWindow');
  });

  it.each([
    ['the id of a model', 'gpt-5', /"gpt-5" is a model id/],
    ['a model of an older interface', { specificationVersion: 'v2', doGenerate: () => {}, doStream: () => {} }, /"v2".*Update/],
    ['a model of a newer interface', { specificationVersion: 'v9', doGenerate: () => {}, doStream: () => {} }, /"v9"/],
    ['something without a version', {}, /missing/],
    ['half a model', { specificationVersion: 'v4', doGenerate: () => {} }, /no doGenerate/],
    ['nothing', undefined, /undefined/],
    ['null', null, /null/],
  ])('refuses %s with a reason', (_, model, reason) => {
    const make = (): unknown => aiSdk(model as never);
    expect(make).toThrow(UnsupportedModelError);
    expect(make).toThrow(reason);
  });

  it.each(['v3', 'v4'] as const)('takes every part of a whole answer (%s)', async (version) => {
    const bytes = new Uint8Array([104, 105]);
    const content = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: { fake: { signature: 's' } } },
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.', providerMetadata: { fake: { itemId: '2' } } },
      { type: 'tool-call', toolCallId: '1', toolName: 'look', input: '{"at":"it"}' },
      { type: 'tool-call', toolCallId: '2', toolName: 'search', input: '', providerExecuted: true },
      { type: 'tool-result', toolCallId: '2', toolName: 'search', result: { found: 1 } },
      { type: 'tool-call', toolCallId: '3', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: '3', toolName: 'search', result: { errorCode: 'x' }, isError: true },
      { type: 'file', mediaType: 'image/png', data: version === 'v4' ? { type: 'data', data: bytes } : bytes },
      { type: 'file', mediaType: 'audio/wav', data: version === 'v4' ? { type: 'data', data: 'aGk=' } : 'aGk=' },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://x.org', title: 'X' },
      { type: 'custom', kind: 'fake.thing', providerMetadata: { fake: { a: 1 } } },
      { type: 'tool-approval-request', approvalId: 'a', toolCallId: '3' },
    ];
    const { outcome, warnings } = await ask({ version, content });
    expect(warnings).toEqual([]);
    expect(outcome.ok && outcome.response.parts).toEqual([
      { type: 'reasoning', text: 'Hm.', providerMetadata: { fake: { signature: 's' } } },
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.', providerMetadata: { fake: { itemId: '2' } } },
      { type: 'tool-call', toolCallId: '1', toolName: 'look', args: { at: 'it' } },
      { type: 'tool-call', toolCallId: '2', toolName: 'search', args: {}, providerExecuted: true },
      { type: 'tool-result', toolCallId: '2', toolName: 'search', output: { type: 'json', value: { found: 1 } }, providerExecuted: true },
      { type: 'tool-call', toolCallId: '3', toolName: 'search', args: {}, providerExecuted: true },
      {
        type: 'tool-result',
        toolCallId: '3',
        toolName: 'search',
        output: { type: 'error', value: '{"errorCode":"x"}' },
        providerExecuted: true,
      },
      { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      { type: 'file', mediaType: 'audio/wav', data: 'aGk=' },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://x.org', title: 'X' },
      { type: 'provider', provider: 'fake.chat', data: { type: 'custom', kind: 'fake.thing' }, providerMetadata: { fake: { a: 1 } } },
      { type: 'provider', provider: 'fake.chat', data: { type: 'tool-approval-request', approvalId: 'a', toolCallId: '3' } },
    ]);
  });

  it('puts the pieces of a stream together as a whole answer would be, and tells them as they come', async () => {
    const stream = [
      { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed', details: 'no seed here' }] },
      { type: 'response-metadata', id: 'r1', modelId: 'fake-1-0711', timestamp: new Date(0) },
      { type: 'ping' },
      { type: 'raw', rawValue: {} },
      { type: 'reasoning-start', id: 'a' },
      { type: 'reasoning-delta', id: 'a', delta: 'H' },
      { type: 'text-start', id: 'b', providerMetadata: { fake: { itemId: 'b' } } },
      { type: 'text-delta', id: 'b', delta: 'Hel' },
      { type: 'reasoning-delta', id: 'a', delta: 'm' },
      { type: 'reasoning-delta', id: 'a', delta: '', providerMetadata: { fake: { signature: 's' } } },
      { type: 'reasoning-end', id: 'a' },
      { type: 'text-delta', id: 'b', delta: 'lo' },
      { type: 'text-end', id: 'b' },
      { type: 'tool-input-start', id: '1', toolName: 'look' },
      { type: 'tool-input-delta', id: '1', delta: '{"at":' },
      { type: 'tool-input-delta', id: '1', delta: '"it"}' },
      { type: 'tool-input-end', id: '1' },
      { type: 'tool-call', toolCallId: '1', toolName: 'look', input: '{"at":"it"}' },
      {
        type: 'finish',
        finishReason: { unified: 'tool-calls', raw: 'tool_use' },
        usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } },
        providerMetadata: { fake: { tier: 'x' } },
      },
    ];
    const { outcome, deltas, warnings } = await ask({ stream });
    expect(outcome).toEqual({
      ok: true,
      response: {
        parts: [
          { type: 'reasoning', text: 'Hm', providerMetadata: { fake: { signature: 's' } } },
          { type: 'text', text: 'Hello', providerMetadata: { fake: { itemId: 'b' } } },
          { type: 'tool-call', toolCallId: '1', toolName: 'look', args: { at: 'it' } },
        ],
        id: 'r1',
        modelId: 'fake-1-0711',
        finishReason: 'tool_calls',
        rawFinishReason: 'tool_use',
        usage: { input: 3, output: 4, total: 7 },
        providerMetadata: { fake: { tier: 'x' } },
      },
    });
    expect(deltas.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ]);
    expect(warnings).toEqual(['The provider says: unsupported: seed: no seed here']);
  });

  it('keeps parts and finish words that it does not know, and says so (M9)', async () => {
    const strange = { type: 'hologram', data: new Uint8Array([104, 105]), at: new Date(0), providerMetadata: { fake: { a: 1 } } };
    const kept = {
      type: 'provider',
      provider: 'fake.chat',
      data: { type: 'hologram', data: { type: 'data', data: 'aGk=' }, at: '1970-01-01T00:00:00.000Z' },
      providerMetadata: { fake: { a: 1 } },
    };
    const whole = await ask({ content: [strange, { type: 'text', text: 'Hi' }], finishReason: { unified: 'enlightened', raw: 'om' } });
    expect(whole.outcome).toMatchObject({
      ok: true,
      response: { parts: [kept, { type: 'text' }], finishReason: 'other', rawFinishReason: 'om' },
    });
    expect(whole.warnings).toEqual(['A part of the unknown type "hologram" came; it is kept as it is.']);
    const pieces = await ask({
      stream: [
        strange,
        null as never,
        { no: 'type' },
        { type: 'text-delta', id: '1', delta: 'Hi' },
        { type: 'finish', finishReason: stop },
      ],
    });
    expect(pieces.outcome).toMatchObject({ ok: true, response: { parts: [kept, { type: 'text', text: 'Hi' }] } });
  });

  it.each([
    [{ unified: 'other', raw: 'refusal' }, 'content_filter'],
    [{ unified: 'other', raw: 'model_context_window_exceeded' }, 'other'],
    [{ unified: 'length', raw: 'max_tokens' }, 'length'],
    [{ unified: 'content-filter', raw: 'SAFETY' }, 'content_filter'],
    ['stop', 'stop'],
    [{ unified: 'stop' }, 'stop'],
  ])('reads the finish reason %j', async (finishReason, expected) => {
    const { outcome } = await ask({ content: [{ type: 'text', text: 'Hi' }], finishReason });
    expect(outcome).toMatchObject({ ok: true, response: { finishReason: expected } });
  });

  it.each([
    [
      { inputTokens: { total: 10, noCache: 2, cacheRead: 5, cacheWrite: 3 }, outputTokens: { total: 7, text: 3, reasoning: 4 } },
      { input: 10, output: 7, total: 17, cacheRead: 5, cacheWrite: 3, reasoning: 4 },
    ],
    [
      { inputTokens: { total: 12 }, outputTokens: { total: 2, reasoning: 340 } },
      { input: 12, output: 342, total: 354, reasoning: 340 },
    ],
    [
      { inputTokens: { noCache: 2, cacheRead: 5 }, outputTokens: { text: 3, reasoning: 4 } },
      { input: 7, output: 7, total: 14, cacheRead: 5, reasoning: 4 },
    ],
    [
      { inputTokens: { total: 12 }, outputTokens: {} },
      { input: 12, output: 0, total: 12, unknownCalls: 1 },
    ],
    [
      { inputTokens: { total: Number.NaN }, outputTokens: { total: -1 } },
      { input: 0, output: 0, total: 0, unknownCalls: 1 },
    ],
    [undefined, { input: 0, output: 0, total: 0, unknownCalls: 1 }],
    ['nonsense', { input: 0, output: 0, total: 0, unknownCalls: 1 }],
  ])('reads the usage %j (M7)', async (usage, expected) => {
    const { outcome } = await ask({ content: [{ type: 'text', text: 'Hi' }], usage });
    expect(outcome.ok && outcome.response.usage).toEqual(expected);
  });

  it('takes any error for a failure, even if the end follows; its calls are not run (M2)', async () => {
    const stream = [
      { type: 'text-delta', id: '1', delta: 'Hel' },
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { type: 'tool-call', toolCallId: '1', toolName: 'look', input: '{}' },
      { type: 'finish', finishReason: { unified: 'tool-calls' } },
    ];
    expect((await ask({ stream })).outcome).toMatchObject({
      ok: false,
      failure: { type: 'rate_limit' },
      partial: { parts: [{ text: 'Hel' }, { type: 'tool-call' }] },
    });
  });

  it.each([
    ['no finish', []],
    ['an interrupted one', [{ type: 'finish', finishReason: { unified: 'interrupted' } }]],
  ])('takes %s for an answer that broke off (M3)', async (_, ending) => {
    const { outcome } = await ask({ stream: [{ type: 'text-delta', id: '1', delta: 'Hel' }, ...ending] });
    expect(outcome).toMatchObject({
      ok: false,
      failure: { type: 'model', retryable: true, code: 'stream-interrupted' },
      partial: { parts: [{ text: 'Hel' }] },
    });
  });

  it('makes no call of the client of arguments for a tool that the provider runs (I1)', async () => {
    const own = { toolName: 'search', providerExecuted: true };
    const end = { type: 'finish', finishReason: stop };
    const begun = [
      { type: 'text-delta', id: '1', delta: 'Hi.' },
      { type: 'tool-input-start', id: 'a', ...own },
      { type: 'tool-input-delta', id: 'a', delta: '{"q":1}' },
      { type: 'tool-input-end', id: 'a' },
    ];
    const left = await ask({ stream: [...begun, end] });
    expect(left.outcome).toMatchObject({ ok: true, response: { parts: [{ type: 'text', text: 'Hi.' }] } });
    expect(left.outcome.ok && left.outcome.response.parts).toHaveLength(1);
    expect((await ask({ stream: begun })).outcome).toMatchObject({ ok: false, partial: { parts: [{ type: 'text' }] } });
    const { outcome, deltas } = await ask({
      stream: [...begun, { type: 'tool-call', toolCallId: 'a', toolName: 'search', input: '' }, end],
    });
    expect(outcome.ok && outcome.response.parts[1]).toEqual({
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'search',
      args: { q: 1 },
      providerExecuted: true,
    });
    expect(deltas).toContainEqual({ type: 'tool-input', toolCallId: 'a', toolName: 'search', text: '{"q":1}' });
  });

  it('makes no call of pieces that come after theirs, and keeps a second one under the same id (I2)', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{"n":1}' };
    const late = [
      { type: 'tool-input-delta', id: 'a', delta: '}' },
      { type: 'tool-input-end', id: 'a' },
    ];
    const again = [
      { type: 'tool-input-start', id: 'a', toolName: 'look' },
      { type: 'tool-input-delta', id: 'a', delta: '{"n":2}' },
      { ...call, input: '' },
    ];
    const { outcome } = await ask({ stream: [call, ...late, ...again, ...late, { type: 'finish', finishReason: stop }] });
    expect(outcome.ok && outcome.response.parts.map((part) => part.type === 'tool-call' && part.args)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('hands arguments on that are no JSON, and gives calls without an id one of their own (M5)', async () => {
    const content = [
      { type: 'tool-call', toolCallId: '', toolName: 'look', input: '{"at":' },
      { type: 'tool-call', toolCallId: '', toolName: 'look', input: '' },
    ];
    expect((await ask({ content })).outcome).toMatchObject({
      ok: true,
      response: {
        parts: [
          { toolCallId: 'own-1', args: null, rawArgs: '{"at":' },
          { toolCallId: 'own-2', args: {} },
        ],
      },
    });
  });

  it('takes an empty answer for a failure of its own (M6), and an error in its place for that error', async () => {
    expect((await ask({})).outcome).toMatchObject({ ok: false, failure: { code: 'empty-response', retryable: true } });
    const body = { error: { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '3s' }] } };
    expect((await ask({ finishReason: { unified: 'other' }, result: { response: { body } } })).outcome).toMatchObject({
      failure: { type: 'rate_limit', retryable: true, retryAfterMs: 3000 },
    });
  });

  it('never throws, whatever the model does', async () => {
    const make = (doAnything: () => unknown): Promise<ModelOutcome> =>
      aiSdk({ specificationVersion: 'v4', provider: 'p', modelId: 'm', doGenerate: doAnything, doStream: doAnything } as never).stream(
        { messages: [] },
        () => {},
      );
    const failed = { ok: false, failure: { type: 'model' } };
    expect(
      await make(() => {
        throw new Error('at once');
      }),
    ).toMatchObject(failed);
    expect(await make(() => Promise.reject(new Error('later')))).toMatchObject(failed);
    expect(await make(() => undefined)).toMatchObject(failed);
    expect(await make(() => ({ stream: {} }))).toMatchObject(failed);
  });

  it('passes every setting on', async () => {
    const request: Partial<ModelRequest> = {
      tools: [
        { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, providerOptions: { anthropic: { deferLoading: true } } },
        { name: 'bare', description: '', inputSchema: { type: 'object' } },
        { type: 'provider', id: 'openai.web_search', name: 'search', args: { searchContextSize: 'low' } },
      ],
      output: { schema: { type: 'object' }, name: 'answer' },
      settings: {
        temperature: 0.5,
        topP: 0.9,
        topK: 3,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        seed: 7,
        maxOutputTokens: 100,
        toolChoice: { tool: 'look' },
        reasoning: 'high',
        stop: ['END'],
        providerOptions: { openai: { store: false } },
        headers: { 'x-a': 'b' },
      },
      signal: new AbortController().signal,
    };
    const { options } = await ask({ content: [{ type: 'text', text: 'Hi' }] }, request);
    expect(options).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [
        {
          type: 'function',
          name: 'look',
          description: 'Looks.',
          inputSchema: { type: 'object' },
          providerOptions: { anthropic: { deferLoading: true } },
        },
        { type: 'function', name: 'bare', inputSchema: { type: 'object' } },
        { type: 'provider', id: 'openai.web_search', name: 'search', args: { searchContextSize: 'low' } },
      ],
      responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer' },
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      seed: 7,
      maxOutputTokens: 100,
      toolChoice: { type: 'tool', toolName: 'look' },
      reasoning: 'high',
      stopSequences: ['END'],
      providerOptions: { openai: { store: false } },
      headers: { 'x-a': 'b' },
      abortSignal: request.signal,
    });
    expect((await ask({}, { settings: { toolChoice: 'none' } })).options).not.toHaveProperty('toolChoice');
  });

  it('keeps the time limits of a request', async () => {
    const silent = {
      specificationVersion: 'v4',
      provider: 'p',
      modelId: 'm',
      doGenerate: () => new Promise(() => {}),
      doStream: () => new Promise(() => {}),
    };
    const outcome = await aiSdk(silent as never).stream({ messages: [Message.user('Hi')], timeouts: { firstByteMs: 10 } }, () => {});
    expect(outcome).toMatchObject({ ok: false, failure: { type: 'timeout', retryable: true } });
  });
});
