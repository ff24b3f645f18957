import { describe, expect, test } from 'vitest';
import type { FakeClock } from '../lib/index.ts';
import { createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import { textPart, Usage } from '../messages/index.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest, ModelTimeouts } from './model.ts';
import { scriptedModel } from '../testing/index.ts';
import { withModelLimits } from './with-model-limits.ts';
import { withTimeouts } from './timeouts.ts';

interface Call {
  readonly request: ModelRequest;
  readonly tell: (text: string) => void;
  readonly end: (outcome: ModelOutcome) => void;
}

const done: ModelOutcome = { ok: true, response: { parts: [textPart('done')], usage: { input: 1, output: 1, total: 2 } } };

// A model that does nothing by itself and ignores its signal.
function deafModel(): Model & { readonly calls: Call[] } {
  const calls: Call[] = [];
  const ask = (request: ModelRequest, onDelta?: (delta: ModelDelta) => void): Promise<ModelOutcome> =>
    new Promise((end) => {
      calls.push({
        request,
        tell: (text) => {
          onDelta?.({ type: 'text', text });
        },
        end,
      });
    });
  return { provider: 'deaf', modelId: 'm', calls, generate: (request) => ask(request), stream: ask };
}

interface Setup {
  readonly clock: FakeClock;
  readonly call: Call;
  readonly deltas: readonly ModelDelta[];
  readonly outcome: () => ModelOutcome | undefined;
}

function begin(timeouts: ModelTimeouts, request: Partial<ModelRequest> = {}, way: 'stream' | 'generate' = 'stream'): Setup {
  const clock = createFakeClock();
  const inner = deafModel();
  const deltas: ModelDelta[] = [];
  const model = withTimeouts(inner, timeouts, clock);
  let settled: ModelOutcome | undefined;
  const full = { messages: [], ...request };
  void (way === 'stream' ? model.stream(full, (delta) => deltas.push(delta)) : model.generate(full)).then((outcome) => (settled = outcome));
  return { clock, call: inner.calls[0]!, deltas, outcome: () => settled };
}

const getFailure = (setup: Setup): unknown => {
  const outcome = setup.outcome();
  return outcome === undefined ? 'open' : outcome.ok ? 'ok' : [outcome.failure.type, outcome.failure.code, outcome.failure.retryable];
};
const timedOut = ['timeout', 'timed-out', true];

describe('time-outs', () => {
  test('the first byte must come in time', async () => {
    const setup = begin({ firstByteMs: 100 });
    await setup.clock.advance(99);
    expect(getFailure(setup)).toBe('open');
    await setup.clock.advance(1);
    expect(getFailure(setup)).toStrictEqual(timedOut);
    expect(setup.outcome()).toMatchObject({ failure: { message: 'deaf/m sent nothing within 100 ms.' } });
    expect(setup.call.request.signal?.aborted).toBe(true);
    expect(setup.clock.pendingTimers()).toBe(0);
  });

  test('once it has come, only silence counts, from the last piece on', async () => {
    const setup = begin({ firstByteMs: 100, silenceMs: 50 });
    await setup.clock.advance(90);
    setup.call.tell('Hel');
    await setup.clock.advance(49);
    setup.call.tell('lo');
    await setup.clock.advance(49);
    expect(getFailure(setup)).toBe('open');
    await setup.clock.advance(1);
    expect(getFailure(setup)).toStrictEqual(timedOut);
    expect(setup.outcome()).toMatchObject({ partial: { parts: [textPart('Hello')], usage: { unknownCalls: 1 } } });
    expect(setup.clock.pendingTimers()).toBe(0);
  });

  test('silence before the first byte is not watched where only silence is limited', async () => {
    const setup = begin({ silenceMs: 50 });
    await setup.clock.advance(1000);
    expect([getFailure(setup), setup.clock.pendingTimers()]).toStrictEqual(['open', 0]);
    setup.call.tell('a');
    await setup.clock.advance(50);
    expect(getFailure(setup)).toStrictEqual(timedOut);
  });

  test('what is no piece is a sign of life too', async () => {
    const setup = begin({ firstByteMs: 100, silenceMs: 50 });
    await setup.clock.advance(90);
    setup.call.request.onActivity?.();
    await setup.clock.advance(40);
    setup.call.request.onActivity?.();
    await setup.clock.advance(40);
    expect(getFailure(setup)).toBe('open');
  });

  test('the whole answer must come in time, whatever comes meanwhile', async () => {
    const setup = begin({ totalMs: 100, silenceMs: 60 });
    for (const text of ['a', 'b', 'c']) {
      await setup.clock.advance(30);
      setup.call.tell(text);
    }
    await setup.clock.advance(10);
    expect(getFailure(setup)).toStrictEqual(timedOut);
    expect(setup.outcome()).toMatchObject({
      failure: { message: 'deaf/m did not finish within 100 ms.' },
      partial: { parts: [textPart('abc')] },
    });
    expect(setup.clock.pendingTimers()).toBe(0);
  });

  test.each<readonly [ModelTimeouts, string]>([
    [{ firstByteMs: 100, silenceMs: 10 }, 'deaf/m did not answer within 100 ms.'],
    [{ firstByteMs: 100, silenceMs: 10, totalMs: 1000 }, 'deaf/m did not answer within 100 ms.'],
    [{ firstByteMs: 1000, silenceMs: 10, totalMs: 100 }, 'deaf/m did not finish within 100 ms.'],
  ])('for an answer in one piece the first byte is the answer, and silence is not watched (limits: %j)', async (limits, message) => {
    const setup = begin(limits, {}, 'generate');
    setup.call.request.onActivity?.();
    await setup.clock.advance(99);
    expect(getFailure(setup)).toBe('open');
    await setup.clock.advance(1);
    expect(getFailure(setup)).toStrictEqual(timedOut);
    expect(setup.outcome()).toMatchObject({ failure: { message } });
    expect(setup.clock.pendingTimers()).toBe(0);
  });

  test('the limits of the request win, field by field, and are not handed on', async () => {
    const setup = begin({ firstByteMs: 1000, totalMs: 50 }, { timeouts: { firstByteMs: 20 } });
    expect(setup.call.request).not.toHaveProperty('timeouts');
    await setup.clock.advance(20);
    expect(setup.outcome()).toMatchObject({ failure: { message: 'deaf/m sent nothing within 20 ms.' } });
  });

  test('an answer in time comes as it is, and leaves no timer (T2)', async () => {
    const controller = new AbortController();
    const setup = begin({ firstByteMs: 10, silenceMs: 10, totalMs: 100 }, { signal: controller.signal });
    setup.call.tell('a');
    setup.call.end(done);
    await setup.clock.advance(0);
    expect(setup.outcome()).toBe(done);
    expect(setup.clock.pendingTimers()).toBe(0);
    await setup.clock.advance(1000);
    controller.abort();
    expect(setup.call.request.signal?.aborted).toBe(false);
  });

  test('what comes after the time is dropped (T1)', async () => {
    const heard: string[] = [];
    const setup = begin({ totalMs: 10 }, { onActivity: () => heard.push('activity'), onNotice: ({ type }) => heard.push(type) });
    await setup.clock.advance(10);
    setup.call.tell('late');
    setup.call.request.onActivity?.();
    setup.call.request.onNotice?.({ type: 'warning', model: '', message: '' });
    setup.call.end(done);
    await setup.clock.advance(10);
    expect([getFailure(setup), setup.deltas, heard, setup.clock.pendingTimers()]).toStrictEqual([timedOut, [], [], 0]);
  });

  test('the signal ends the call at once, and wins (M1)', async () => {
    const controller = new AbortController();
    const setup = begin({ totalMs: 1000 }, { signal: controller.signal });
    setup.call.tell('Hel');
    const reason = new Error('enough');
    controller.abort(reason);
    setup.call.end(done);
    await setup.clock.advance(0);
    expect(getFailure(setup)).toStrictEqual(['unknown', 'aborted', false]);
    expect(setup.outcome()).toMatchObject({ partial: { parts: [textPart('Hel')] } });
    expect(setup.call.request.signal?.reason).toBe(reason);
    expect(setup.clock.pendingTimers()).toBe(0);
  });

  test.each([{}, { totalMs: 10 }])('a signal that has fired begins nothing (limits: %j)', async (limits) => {
    const clock = createFakeClock();
    const inner = deafModel();
    const outcome = await withTimeouts(inner, limits, clock).generate({ messages: [], signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'aborted' } });
    expect([inner.calls.length, clock.pendingTimers()]).toStrictEqual([0, 0]);
  });

  test('without limits no timer is set', () => {
    expect(begin({}).clock.pendingTimers()).toBe(0);
    expect(begin({ silenceMs: 5 }, {}, 'generate').clock.pendingTimers()).toBe(0);
  });

  test('a model that throws has failed', async () => {
    const throwing: Model = {
      ...deafModel(),
      generate: () => {
        throw new Error('broken');
      },
    };
    const outcome = await withTimeouts(throwing, { totalMs: 5 }, createFakeClock()).generate({ messages: [] });
    expect(outcome).toMatchObject({ ok: false, failure: { type: 'model', message: 'broken' }, partial: { usage: { unknownCalls: 1 } } });
  });
});

describe('waiting and falling back (T3)', () => {
  test('waiting for permission is no silence', async () => {
    const clock = createFakeClock();
    const one = withModelLimits(scriptedModel([{ text: 'a' }, { text: 'b' }]), { requestsPerMinute: 1, clock });
    const model = withTimeouts(one, { firstByteMs: 100, silenceMs: 100 }, clock);
    await model.stream({ messages: [] }, () => undefined);
    const second = model.stream({ messages: [] }, () => undefined);
    await clock.advance(60_000);
    expect((await second).ok).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('after the wait the first byte must come in time', async () => {
    const setup = begin({ firstByteMs: 100 });
    setup.call.request.onNotice?.({ type: 'waiting', model: '', reason: 'requests' });
    await setup.clock.advance(500);
    setup.call.request.onNotice?.({ type: 'waited', model: '', ms: 500 });
    await setup.clock.advance(99);
    expect(getFailure(setup)).toBe('open');
    await setup.clock.advance(1);
    expect(getFailure(setup)).toStrictEqual(timedOut);
  });

  test('another model has its own time for the first byte', async () => {
    const setup = begin({ firstByteMs: 100, silenceMs: 10 });
    setup.call.tell('a');
    setup.call.request.onNotice?.({
      type: 'fallback',
      from: '',
      to: '',
      usage: Usage.none(),
      failure: { type: 'model', code: 'x', message: '', retryable: true },
    });
    await setup.clock.advance(99);
    expect(getFailure(setup)).toBe('open');
  });

  test('an answer in one piece has its time anew after a wait', async () => {
    const setup = begin({ firstByteMs: 10, totalMs: 1000 }, {}, 'generate');
    setup.call.request.onNotice?.({ type: 'waiting', model: '', reason: 'requests' });
    await setup.clock.advance(500);
    setup.call.request.onNotice?.({ type: 'waited', model: '', ms: 500 });
    await setup.clock.advance(9);
    expect(getFailure(setup)).toBe('open');
    await setup.clock.advance(1);
    expect(getFailure(setup)).toStrictEqual(timedOut);
  });
});

test.each([0, -1, Number.NaN])('a limit of %d ms is refused', (totalMs) => {
  expect(() => withTimeouts(deafModel(), { totalMs })).toThrow(InvalidArgumentError);
});

test.each([0, -1, Number.NaN])('a limit of %d ms in a request is a failure that no retry helps; an abort still wins', async (silenceMs) => {
  const inner = deafModel();
  const model = withTimeouts(inner, {}, createFakeClock());
  const request = { messages: [], timeouts: { silenceMs } };
  expect(await model.generate(request)).toMatchObject({
    ok: false,
    failure: { type: 'validation', code: 'invalid-argument', retryable: false },
    partial: { parts: [], usage: { total: 0 } },
  });
  expect(await model.generate({ ...request, signal: AbortSignal.abort() })).toMatchObject({ failure: { code: 'aborted' } });
  expect(inner.calls).toStrictEqual([]);
});
