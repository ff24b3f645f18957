import { describe, expect, test, vi } from 'vitest';
import type { Failure } from '../errors/index.ts';
import type { ScriptedAnswer, ScriptedModel } from '../testing/index.ts';
import { Usage } from '../messages/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { withFallback } from './fallback.ts';
import type { Model, ModelDelta, ModelNotice } from './model.ts';

const failing = (fields: Partial<Failure>): ScriptedAnswer => ({
  error: { type: 'model', code: 'model-failed', message: 'broken', retryable: true, ...fields },
});
const createModel = (modelId: string, answer: ScriptedAnswer): ScriptedModel => scriptedModel([answer], { provider: 'p', modelId });
const request = { messages: [] };

describe('falling back', () => {
  test('the first that answers is not helped', async () => {
    const other = createModel('b', { text: 'B' });
    const model = withFallback(createModel('a', { text: 'A' }), other);
    const outcome = await model.generate(request);
    expect(outcome).toMatchObject({ ok: true, response: { parts: [{ text: 'A' }] } });
    expect(outcome.ok && 'provider' in outcome.response).toBe(false);
    expect(other.calls).toStrictEqual([]);
    expect([model.provider, model.modelId]).toStrictEqual(['p', 'a']);
  });

  test.each<Partial<Failure>>([
    { type: 'rate_limit', code: 'rate-limited' },
    { type: 'timeout', code: 'timed-out' },
    { type: 'model', code: 'empty-response' },
    { type: 'model', code: 'stream-interrupted' },
    { type: 'unknown', code: 'ECONNRESET' },
  ])('%o leads to the next, and is told', async (fields) => {
    const notices: ModelNotice[] = [];
    const model = withFallback(createModel('a', failing(fields)), [createModel('b', { text: 'B' })]);
    const outcome = await model.generate({ ...request, onNotice: (notice) => notices.push(notice) });
    expect(outcome).toMatchObject({ ok: true, response: { parts: [{ text: 'B' }], provider: 'p', modelId: 'b' } });
    expect(notices).toStrictEqual([
      {
        type: 'fallback',
        from: 'p/a',
        to: 'p/b',
        failure: { type: 'model', message: 'broken', retryable: true, ...fields },
        usage: Usage.none(),
      },
    ]);
  });

  test.each<Partial<Failure>>([
    { type: 'model', code: 'auth', retryable: false },
    { type: 'model', code: 'context-overflow', retryable: false },
    { type: 'unknown', code: 'aborted', retryable: false },
    { type: 'rate_limit', code: 'quota', retryable: false },
    { type: 'validation', code: 'validation-failed' },
  ])('%o does not', async (fields) => {
    const other = createModel('b', { text: 'B' });
    const outcome = await withFallback(createModel('a', failing(fields)), other).generate(request);
    expect(outcome).toMatchObject({ ok: false, failure: { ...fields, message: 'broken' } });
    expect(other.calls).toStrictEqual([]);
  });

  test('where all fail the last failure stands, and names every attempt', async () => {
    const models = [
      createModel('b', failing({ type: 'rate_limit', message: 'busy', retryAfterMs: 9 })),
      createModel('c', { text: 'half', ...failing({ type: 'timeout', message: 'slow' }) }),
    ];
    const outcome = await withFallback(createModel('a', failing({})), models).generate(request);
    expect(outcome).toMatchObject({
      ok: false,
      failure: { type: 'timeout', message: '3 models failed. p/a: broken | p/b: busy | p/c: slow' },
      partial: { parts: [{ text: 'half' }] },
    });
    expect(models.map(({ calls }) => calls.length)).toStrictEqual([1, 1]);
  });

  test('a failure that no model can help ends the row there', async () => {
    const last = createModel('c', { text: 'C' });
    const outcome = await withFallback(createModel('a', failing({})), [
      createModel('b', failing({ retryable: false, message: 'no key' })),
      last,
    ]).generate(request);
    expect(outcome).toMatchObject({ ok: false, failure: { retryable: false, message: '2 models failed. p/a: broken | p/b: no key' } });
    expect(last.calls).toStrictEqual([]);
  });

  test('pieces of a failed answer are called back, once', async () => {
    const deltas: ModelDelta[] = [];
    const row = [createModel('b', failing({})), createModel('c', { text: 'Hello' })];
    await withFallback(createModel('a', { text: 'Hal', ...failing({}) }), row).stream(request, (delta) => deltas.push(delta));
    expect(deltas).toStrictEqual([{ type: 'text', text: 'Hal' }, { type: 'restart' }, { type: 'text', text: 'Hello' }]);
  });

  test('a signal that fires during the first attempt ends it all', async () => {
    const controller = new AbortController();
    const other = createModel('b', { text: 'B' });
    const deaf: Model = {
      provider: 'p',
      modelId: 'a',
      generate: async () => {
        controller.abort();
        return {
          ok: false,
          failure: { type: 'model', code: 'x', message: 'x', retryable: true },
          partial: { parts: [], usage: { input: 0, output: 0, total: 0 } },
        };
      },
      stream: () => Promise.reject(new Error('unused')),
    };
    const outcome = await withFallback(deaf, other).generate({ ...request, signal: controller.signal });
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'aborted', message: 'The call was aborted.' } });
    expect(other.calls).toStrictEqual([]);
  });

  test('what failed attempts reported is part of the usage, whether the last one answers or fails', async () => {
    const spent = { ...failing({}), usage: { input: 10, output: 5, cacheRead: 4 } };
    const row = (last: ScriptedAnswer): Model =>
      withFallback(createModel('a', spent), [createModel('b', failing({})), createModel('c', last)]);
    const usage = { input: 11, output: 7, total: 18, cacheRead: 4 };
    const answered = await row({ text: 'C', usage: { input: 1, output: 2 } }).generate(request);
    expect(answered.ok && answered.response.usage).toStrictEqual(usage);
    const failed = await row({ ...failing({}), usage: { input: 1, output: 2 } }).generate(request);
    expect(!failed.ok && failed.partial.usage).toStrictEqual(usage);
  });

  test('a listener that throws at a piece or at a restart does not lead to the next, and does not stop it', async () => {
    const complaints = vi.spyOn(console, 'error').mockReturnValue();
    const other = createModel('b', { text: 'B' });
    const onDelta = (): never => {
      throw new Error('listener');
    };
    expect((await withFallback(createModel('a', { text: 'A' }), other).stream(request, onDelta)).ok).toBe(true);
    expect(other.calls).toStrictEqual([]);
    expect((await withFallback(createModel('a', { text: 'A', ...failing({}) }), other).stream(request, onDelta)).ok).toBe(true);
    expect(complaints).toHaveBeenCalledTimes(4);
    complaints.mockRestore();
  });

  test('a model that throws has failed, and the next is asked', async () => {
    const throwing: Model = { ...createModel('a', {}), generate: () => Promise.reject(new TypeError('oops')) };
    expect((await withFallback(throwing, createModel('b', { text: 'B' })).generate(request)).ok).toBe(true);
  });
});

describe('models that are cooling down', () => {
  const ask = async (coolingDown: readonly string[], models: readonly ScriptedModel[]) => {
    const notices: ModelNotice[] = [];
    const [first, ...others] = models;
    if (first === undefined) throw new Error('there is no model');
    const outcome = await withFallback(first, others).generate({ ...request, coolingDown, onNotice: (notice) => notices.push(notice) });
    return { outcome, notices: notices.map((notice) => (notice.type === 'skipped' ? `skipped ${notice.model}` : notice.type)) };
  };

  test('are asked last, are emitted once, and the answer says its route', async () => {
    const models = [createModel('a', { text: 'A' }), createModel('b', failing({})), createModel('c', failing({}))];
    const { outcome, notices } = await ask(['p/a'], models);
    expect(outcome).toMatchObject({ ok: true, response: { parts: [{ text: 'A' }], route: { failed: ['p/b', 'p/c'], answered: 'p/a' } } });
    expect(notices).toStrictEqual(['skipped p/a', 'fallback', 'fallback']);
  });

  test('are emitted when they are passed over in the middle of the row', async () => {
    const { outcome, notices } = await ask(
      ['p/b'],
      [createModel('a', failing({})), createModel('b', { text: 'B' }), createModel('c', { text: 'C' })],
    );
    expect(outcome).toMatchObject({ ok: true, response: { parts: [{ text: 'C' }], route: { failed: ['p/a'], answered: 'p/c' } } });
    expect(notices).toStrictEqual(['fallback', 'skipped p/b']);
  });

  test('are asked in their order if all are', async () => {
    const { outcome, notices } = await ask(['p/a', 'p/b'], [createModel('a', { text: 'A' }), createModel('b', { text: 'B' })]);
    expect(outcome).toMatchObject({ ok: true, response: { parts: [{ text: 'A' }], route: { failed: [], answered: 'p/a' } } });
    expect(notices).toStrictEqual([]);
  });

  test('in a row inside a row are named by that row', async () => {
    const inner = withFallback(createModel('a', failing({})), createModel('b', { text: 'B' }));
    const outcome = await withFallback(inner, createModel('c', { text: 'C' })).generate({ ...request, coolingDown: [] });
    expect(outcome).toMatchObject({ ok: true, response: { route: { failed: ['p/a'], answered: 'p/b' } } });
  });
});
