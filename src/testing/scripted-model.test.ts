import { describe, expect, test, vi } from 'vitest';
import { RateLimitedError } from '../errors/index.ts';
import type { ModelDelta, ModelRequest } from '../inference/index.ts';
import { findPendingToolCalls } from '../inference/index.ts';
import { scriptedModel } from './scripted-model.ts';

const request: ModelRequest = { messages: [] };

describe('a scripted model', () => {
  test('answers entry by entry, and remembers what it was asked', async () => {
    const model = scriptedModel([
      { text: 'a', reasoning: 'hm', usage: { input: 1, output: 2 } },
      ({ messages }) => ({ text: `b${messages.length}` }),
    ]);
    expect(await model.generate(request)).toStrictEqual({
      ok: true,
      response: {
        parts: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'a' },
        ],
        usage: { input: 1, output: 2, total: 3 },
        finishReason: 'stop',
        rawFinishReason: 'stop',
      },
    });
    const deltas: ModelDelta[] = [];
    const second: ModelRequest = { messages: [], settings: { seed: 1 } };
    await model.stream(second, (delta) => deltas.push(delta));
    expect(deltas).toStrictEqual([{ type: 'text', text: 'b0' }]);
    expect(model.calls).toStrictEqual([request, second]);
  });

  test('takes plain text as an answer, also from a function', async () => {
    const model = scriptedModel(['hello', () => 'again', async () => 'later']);
    for (const text of ['hello', 'again', 'later'])
      expect(await model.generate(request)).toMatchObject({
        ok: true,
        response: { parts: [{ type: 'text', text }], finishReason: 'stop' },
      });
  });

  test.each<readonly [string, unknown, string]>([
    ['text in place of a list', 'hello', 'scriptedModel() needs a list of answers, not "hello". Put the string in a list.'],
    ['nothing', undefined, 'scriptedModel() needs a list of answers, not undefined.'],
    ['a number among the answers', ['a', 5], 'Answer 2 of scriptedModel() must be a string, an object or a function, not 5.'],
    ['null among the answers', [null], 'Answer 1 of scriptedModel() must be a string, an object or a function, not null.'],
    ['a list among the answers', [['a']], 'Answer 1 of scriptedModel() must be a string, an object or a function, not a list.'],
    ['an unknown field', [{ content: 'a' }], 'Unknown option "content" in answer 1 of scriptedModel(). Use text.'],
  ])('refuses %s', (_, script, message) => {
    expect(() => scriptedModel(script as never)).toThrow(message);
  });

  test('fails if a function returns something else', async () => {
    const model = scriptedModel([() => 5 as never]);
    expect(await model.generate(request)).toMatchObject({
      ok: false,
      failure: { message: 'Answer 1 of scriptedModel() must be a string, an object or a function, not 5.' },
    });
  });

  test('calls tools, with broken JSON where the script has a text', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'search', args: { q: 1 } }, { name: 'now' }, { name: 'bad', args: '{"q":', id: 'mine' }] },
    ]);
    const outcome = await model.generate(request);
    expect(outcome.ok && [outcome.response.finishReason, findPendingToolCalls(outcome.response)]).toStrictEqual([
      'tool_calls',
      [
        { id: 'call-1', name: 'search', args: { q: 1 } },
        { id: 'call-2', name: 'now', args: {} },
        { id: 'mine', name: 'bad', args: null, rawArgs: '{"q":' },
      ],
    ]);
  });

  test('fails with what the script throws, and keeps what was said before', async () => {
    const failure = { type: 'timeout', code: 'x', message: 'late', retryable: true } as const;
    const model = scriptedModel([
      { text: 'half', error: new RateLimitedError('busy', { retryAfterMs: 5 }) },
      { error: failure },
      { error: 'words' },
      { error: undefined },
      () => Promise.reject(new Error('thrown')),
      { text: 'half', finishReason: 'interrupted' },
    ]);
    expect(await model.generate(request)).toMatchObject({
      ok: false,
      failure: { type: 'rate_limit', retryAfterMs: 5 },
      partial: { parts: [{ text: 'half' }] },
    });
    expect(await model.generate(request)).toMatchObject({ ok: false, failure });
    for (const message of ['words', 'undefined', 'thrown']) {
      expect(await model.generate(request)).toMatchObject({ ok: false, failure: { type: 'model', message } });
    }
    expect(await model.generate(request)).toMatchObject({ ok: false, failure: { code: 'stream-interrupted' } });
  });

  test('plays pieces as they are, also those that come later', async () => {
    async function* later(): AsyncGenerator<ModelDelta | string> {
      yield 'Hel';
      await Promise.resolve();
      yield 'lo';
      yield { type: 'tool-input', toolCallId: 'a', toolName: 'search', text: '{"q":' };
      yield { type: 'tool-input', toolCallId: 'a', toolName: 'search', text: '1}' };
    }
    const deltas: ModelDelta[] = [];
    const outcome = await scriptedModel([{ chunks: later() }]).stream(request, (delta) => deltas.push(delta));
    expect(deltas.map((delta) => ('text' in delta ? delta.text : ''))).toStrictEqual(['Hel', 'lo', '', '{"q":', '1}']);
    expect(outcome.ok && [outcome.response.finishReason, findPendingToolCalls(outcome.response)]).toStrictEqual([
      'tool_calls',
      [{ id: 'a', name: 'search', args: { q: 1 } }],
    ]);
  });

  test('says so when its script is used up, unless it repeats the last entry', async () => {
    const model = scriptedModel([{ text: 'a' }]);
    await model.generate(request);
    expect(await model.generate(request)).toMatchObject({
      ok: false,
      failure: {
        code: 'script-used-up',
        message: 'The script has 1 answer, but the model was called once more. Add an answer, or pass { repeatLast: true }.',
        retryable: false,
      },
    });
    const repeating = scriptedModel([{ text: 'a' }], { repeatLast: true });
    await repeating.generate(request);
    expect((await repeating.generate(request)).ok).toBe(true);
    expect((await scriptedModel([], { repeatLast: true }).generate(request)).ok).toBe(false);
  });

  test('hangs until its signal fires, and an abort before the call takes no entry', async () => {
    const model = scriptedModel([() => new Promise(() => undefined), { text: 'next' }]);
    expect(await model.generate({ ...request, signal: AbortSignal.abort() })).toMatchObject({ failure: { code: 'aborted' } });
    const controller = new AbortController();
    const pending = model.generate({ ...request, signal: controller.signal });
    controller.abort();
    expect(await pending).toMatchObject({ ok: false, failure: { code: 'aborted' } });
    expect(await model.generate(request)).toMatchObject({ ok: true });
  });

  test('an abort between pieces ends the telling', async () => {
    const controller = new AbortController();
    const deltas: ModelDelta[] = [];
    const outcome = await scriptedModel([{ chunks: ['a', 'b', 'c'], text: 'd' }]).stream(
      { ...request, signal: controller.signal },
      (delta) => {
        deltas.push(delta);
        controller.abort();
      },
    );
    expect(deltas).toStrictEqual([{ type: 'text', text: 'a' }]);
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'aborted' }, partial: { parts: [{ text: 'a' }] } });
  });
});

test('a listener that throws changes nothing of what a script answers', async () => {
  const complaints = vi.spyOn(console, 'error').mockReturnValue();
  const listener = (): never => {
    throw new Error('listener');
  };
  const outcome = await scriptedModel([{ text: 'a' }]).stream({ messages: [], onActivity: listener, onNotice: listener }, listener);
  expect(outcome).toMatchObject({ ok: true, response: { parts: [{ text: 'a' }] } });
  expect(complaints).toHaveBeenCalled();
  complaints.mockRestore();
});
