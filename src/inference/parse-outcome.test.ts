import { describe, expect, test } from 'vitest';
import { classifyError, ModelFailedError } from '../errors/index.ts';
import { Message, Usage } from '../messages/index.ts';
import { withModelLimits } from './with-model-limits.ts';
import { createModelLimits } from './model-limits.ts';
import type { Model, ModelOutcome, ModelResponse } from './model.ts';
import { parseOutcome } from './parse-outcome.ts';

const model = { provider: 'hand', modelId: 'written' };
const metadata = { providerMetadata: { hand: { signature: 'x' } } };
const answer: ModelResponse = {
  parts: [
    { type: 'reasoning', text: 'Hm.', ...metadata },
    { type: 'text', text: 'Hello.' },
    { type: 'image', data: 'AAAA', mediaType: 'image/png' },
    { type: 'file', mediaType: 'text/plain', id: 'file-1', filename: 'a.txt' },
    { type: 'source', sourceType: 'url', id: '1', url: 'https://x.test', title: 'X' },
    { type: 'provider', provider: 'hand', data: null },
    { type: 'tool-call', toolCallId: 'a', toolName: 'look', args: null, rawArgs: '{', ...metadata },
    { type: 'tool-call', toolCallId: 'b', toolName: 'search', args: { q: 1 }, providerExecuted: true },
    {
      type: 'tool-result',
      toolCallId: 'b',
      toolName: 'search',
      providerExecuted: true,
      output: { type: 'content', parts: [{ type: 'text', text: 'Found.' }] },
    },
  ],
  usage: Usage.of({ input: 9, output: 5, cacheRead: 3, reasoning: 2 }),
  finishReason: 'stop',
  rawFinishReason: 'end_turn',
  id: 'response-1',
  modelId: 'written-1',
  provider: 'hand',
  ...metadata,
};
const failure = classifyError(new ModelFailedError('Not now.', { retryAfterMs: 5 }));

describe('parseOutcome', () => {
  test.each<[string, ModelOutcome]>([
    ['an answer', { ok: true, response: answer }],
    ['a filtered answer without words', { ok: true, response: { parts: [], usage: Usage.unknown(), finishReason: 'content_filter' } }],
  ])('returns %s as it came', (_, outcome) => {
    expect(parseOutcome(outcome, model)).toBe(outcome);
  });

  test.each<[string, ModelResponse['parts']]>([
    ['no parts', []],
    ['only blank text', [{ type: 'text', text: ' \n' }]],
    ['only reasoning', [{ type: 'reasoning', text: 'Hm.' }]],
  ])('returns an answer with %s as a failure that can be retried', (_, parts) => {
    const response: ModelResponse = { parts, usage: Usage.of({ input: 2, output: 1 }), finishReason: 'stop' };
    expect(parseOutcome({ ok: true, response }, model)).toMatchObject({
      ok: false,
      failure: { type: 'model', code: 'empty-response', retryable: true },
      partial: response,
    });
  });

  test('returns a failure with its partial answer', () => {
    const outcome: ModelOutcome = { ok: false, failure, partial: answer };
    expect(parseOutcome(outcome, model)).toStrictEqual(outcome);
  });

  test('gives usage its total, and counts thinking as output', () => {
    const parsed = parseOutcome({ ok: true, response: { parts: answer.parts, usage: { input: 2, output: 1, reasoning: 4 } } }, model);
    expect(parsed.ok && parsed.response.usage).toStrictEqual({ input: 2, output: 5, total: 7, reasoning: 4 });
  });

  test('does not run what a field of a part would do when it is stored', () => {
    const text = { type: 'text', text: 'Hello.', toJSON: () => ({ type: 'text' }) };
    const parsed = parseOutcome({ ok: true, response: { parts: [text], usage: Usage.none() } }, model);
    expect(parsed.ok && parsed.response.parts).toStrictEqual([{ type: 'text', text: 'Hello.' }]);
  });

  test("refuses a result that belongs to no call of the answer, unless it is the provider's own", () => {
    const result = { type: 'tool-result', toolCallId: 'earlier', toolName: 'look', output: { type: 'text', value: 'x' } } as const;
    const parse = (part: ModelResponse['parts'][number]): ModelOutcome =>
      parseOutcome({ ok: true, response: { ...answer, parts: [...answer.parts, part] } }, model);
    expect(parse(result)).toMatchObject({
      ok: false,
      failure: {
        code: 'malformed-response',
        message: expect.stringContaining(
          'response.parts[9].toolCallId must be the id of a call in the same answer, found "earlier"',
        ) as string,
      },
      partial: { usage: answer.usage },
    });
    expect(parse({ ...result, providerExecuted: true }).ok).toBe(true);
    expect(parse({ ...result, toolCallId: 'a' }).ok).toBe(true);
  });

  test('names the field, the form and the value', () => {
    const parsed = parseOutcome({ ok: 'yes' }, model);
    expect(parsed).toMatchObject({
      ok: false,
      failure: {
        type: 'model',
        code: 'malformed-response',
        retryable: false,
        message:
          'The model hand/written returned a malformed outcome: ok must be true or false, found "yes". Its answer was not used. Correct what its generate() and stream() return.',
      },
      partial: { parts: [], usage: { unknownCalls: 1 } },
    });
  });
});

test('a model inside another is checked too', async () => {
  const returns = (): Promise<never> => Promise.resolve({ ok: true, response: { parts: [] } } as never);
  const inner: Model = { ...model, generate: returns, stream: returns };
  const outer = withModelLimits(inner, createModelLimits({ tokensPerMinute: 1000 }));
  expect(await outer.generate({ messages: [Message.user('Hi.', { id: '1' })] })).toMatchObject({
    ok: false,
    failure: { code: 'malformed-response', message: expect.stringContaining('response.usage must be an object') as string },
  });
});
