import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import type { FakeClock } from '../lib/index.ts';
import { createFakeClock, InvalidArgumentError, sleep } from '../lib/index.ts';
import type { ScriptedAnswer } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { withModelLimits } from './with-model-limits.ts';
import type { Model, ModelNotice, ModelOutcome } from './model.ts';
import { createModelLimits } from './model-limits.ts';

const rateLimit = (retryAfterMs?: number): ScriptedAnswer => ({
  error: {
    type: 'rate_limit',
    code: 'rate-limited',
    message: 'busy',
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  },
});

/** A model whose calls take their time; notes when each began and how many ran at once. */
function slowModel(
  clock: FakeClock,
  answers: readonly (ScriptedAnswer & { readonly takesMs?: number })[],
): Model & { readonly begun: number[]; readonly most: () => number } {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const script = scriptedModel(
    answers.map(({ takesMs = 0, ...answer }) => async () => {
      begun.push(clock.monotonic());
      most = Math.max(most, (running += 1));
      if (takesMs > 0) await sleep(clock, takesMs);
      running -= 1;
      return answer;
    }),
  );
  return { ...script, begun, most: () => most };
}

const hello = (count: number, takesMs = 0): readonly (ScriptedAnswer & { readonly takesMs: number })[] =>
  Array.from({ length: count }, () => ({ text: 'Hello', takesMs }));
const request = { messages: [] };

interface Asked {
  readonly pending: Promise<ModelOutcome>;
  readonly notices: readonly ModelNotice[];
}

function ask(model: Model, signal?: AbortSignal): Asked {
  const notices: ModelNotice[] = [];
  return {
    pending: model.generate({ ...request, onNotice: (notice) => notices.push(notice), ...(signal !== undefined && { signal }) }),
    notices,
  };
}

describe('calls at once', () => {
  test('no more than allowed, first come, first served (G1, G2)', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, hello(5, 100));
    const model = withModelLimits(inner, { concurrent: 2, clock });
    const asked = Array.from({ length: 5 }, () => ask(model));
    await clock.advance(250);
    await Promise.all(asked.slice(0, 4).map(({ pending }) => pending));
    expect([inner.begun, inner.most()]).toStrictEqual([[0, 0, 100, 100, 200], 2]);
    expect(asked.map(({ notices }) => notices.length)).toStrictEqual([0, 0, 2, 2, 2]);
    expect(asked[2]?.notices).toStrictEqual([
      { type: 'waiting', model: 'scripted/script', reason: 'concurrency' },
      { type: 'waited', model: 'scripted/script', ms: 100 },
    ]);
    await clock.advance(100);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a failed call makes room as well, and so does one that throws', async () => {
    const clock = createFakeClock();
    const model = withModelLimits(slowModel(clock, [{ error: new Error('no') }, { text: 'b' }]), { concurrent: 1, clock });
    expect((await model.generate(request)).ok).toBe(false);
    expect((await model.generate(request)).ok).toBe(true);
    const throwing = withModelLimits(
      {
        ...model,
        generate: () => {
          throw new Error('no');
        },
      },
      { concurrent: 1, clock },
    );
    expect((await throwing.generate(request)).ok).toBe(false);
    expect((await throwing.generate(request)).ok).toBe(false);
  });

  test('a listener that throws keeps no place', async () => {
    const clock = createFakeClock();
    const model = withModelLimits(slowModel(clock, hello(3, 10)), { concurrent: 1, clock });
    const complaints = vi.spyOn(console, 'error').mockReturnValue();
    const asked = [1, 2, 3].map(() =>
      model.generate({
        ...request,
        onNotice: () => {
          throw new Error('listener');
        },
      }),
    );
    await clock.advance(100);
    expect(complaints).toHaveBeenCalled();
    complaints.mockRestore();
    expect((await Promise.all(asked)).map(({ ok }) => ok)).toStrictEqual([true, true, true]);
  });
});

describe('a minute', () => {
  test('holds so many requests, wherever it begins', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, hello(5));
    const model = withModelLimits(inner, { requestsPerMinute: 2, clock });
    const first = ask(model);
    await clock.advance(20_000);
    const rest = Array.from({ length: 4 }, () => ask(model));
    await clock.advance(0);
    expect(rest[1]?.notices).toStrictEqual([{ type: 'waiting', model: 'scripted/script', reason: 'requests', ms: 40_000 }]);
    await clock.advance(200_000);
    await Promise.all([first, ...rest].map(({ pending }) => pending));
    expect(inner.begun).toStrictEqual([0, 20_000, 60_000, 80_000, 120_000]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('holds so many tokens, counted when they are known', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, [
      { text: 'a', usage: { input: 50, output: 10 }, takesMs: 10_000 },
      { text: 'b', usage: { input: 40, output: 10 }, takesMs: 10_000 },
      { text: 'c', takesMs: 10_000 },
      { text: 'd' },
    ]);
    const model = withModelLimits(inner, { tokensPerMinute: 100, concurrent: 1, clock });
    const asked = Array.from({ length: 4 }, () => ask(model));
    await clock.advance(200_000);
    await Promise.all(asked.map(({ pending }) => pending));
    // 60 tokens at 10 s and 50 at 20 s are 110: there is room again a minute after the first.
    expect(inner.begun).toStrictEqual([0, 10_000, 70_000, 80_000]);
  });
});

describe('a 429', () => {
  test('cools down all who share the key, and nobody else (G3)', async () => {
    const clock = createFakeClock();
    const limits = createModelLimits({ clock });
    const busy = slowModel(clock, [rateLimit(5000), { text: 'a' }]);
    const same = slowModel(clock, hello(1));
    const other = slowModel(clock, hello(1));
    await withModelLimits(busy, limits, 'shared').generate(request);
    const waiting = [ask(withModelLimits(busy, limits, 'shared')), ask(withModelLimits(same, limits, 'shared'))];
    const free = ask(withModelLimits(other, limits, 'other'));
    await clock.advance(4999);
    expect([busy.begun, same.begun, other.begun]).toStrictEqual([[0], [], [0]]);
    await clock.advance(1);
    await Promise.all([...waiting, free].map(({ pending }) => pending));
    expect([busy.begun, same.begun]).toStrictEqual([[0, 5000], [5000]]);
    expect(waiting[0]?.notices).toStrictEqual([
      { type: 'waiting', model: 'scripted/script', reason: 'cool-down', ms: 5000 },
      { type: 'waited', model: 'scripted/script', ms: 5000 },
    ]);
  });

  test('without a time of its own cools down for a second, or as the options say', async () => {
    for (const [options, ms] of [
      [{}, 1000],
      [{ coolDownMs: 30 }, 30],
    ] as const) {
      const clock = createFakeClock();
      const inner = slowModel(clock, [rateLimit(), { text: 'a' }]);
      const model = withModelLimits(inner, { ...options, clock });
      await model.generate(request);
      const next = ask(model);
      await clock.advance(ms);
      await next.pending;
      expect(inner.begun).toStrictEqual([0, ms]);
    }
  });

  test('is told to those who already wait, and a shorter one does not end a longer one', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, [{ ...rateLimit(900), takesMs: 10 }, { ...rateLimit(100), takesMs: 20 }, { text: 'c' }]);
    const model = withModelLimits(inner, { concurrent: 2, clock });
    const asked = [ask(model), ask(model), ask(model)];
    await clock.advance(2000);
    await Promise.all(asked.map(({ pending }) => pending));
    expect(inner.begun).toStrictEqual([0, 0, 910]);
    expect(asked[2]?.notices.map((notice) => (notice.type === 'waiting' ? [notice.reason, notice.ms] : notice.type))).toStrictEqual([
      ['concurrency', undefined],
      ['cool-down', 900],
      'waited',
    ]);
  });

  test('that asks for too long lets calls fail at once instead', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, [{ ...rateLimit(3_600_000), takesMs: 10 }]);
    const model = withModelLimits(inner, { concurrent: 1, clock });
    const [first, waiting] = [ask(model), ask(model)];
    await clock.advance(10);
    await first.pending;
    for (const outcome of [await waiting.pending, await ask(model).pending]) {
      expect(outcome).toMatchObject({
        ok: false,
        failure: { type: 'rate_limit', code: 'rate-limited', retryAfterMs: 3_600_000 },
        partial: { usage: { total: 0 } },
      });
    }
    expect(waiting.notices.at(-1)?.type).toBe('waited');
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('giving up', () => {
  test('leaves the line at once; those behind move up (G2, G4)', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, hello(3));
    const model = withModelLimits(inner, { requestsPerMinute: 1, clock });
    await model.generate(request);
    const controller = new AbortController();
    const [leaving, next] = [ask(model, controller.signal), ask(model)];
    await clock.advance(100);
    controller.abort();
    expect(await leaving.pending).toMatchObject({ ok: false, failure: { code: 'aborted' } });
    expect(leaving.notices.at(-1)).toStrictEqual({ type: 'waited', model: 'scripted/script', ms: 100 });
    await clock.advance(60_000);
    await next.pending;
    expect(inner.begun).toStrictEqual([0, 60_000]);
  });

  test('by the last in line leaves no timer (G4)', async () => {
    const clock = createFakeClock();
    const model = withModelLimits(slowModel(clock, hello(2)), { requestsPerMinute: 1, clock });
    await model.generate(request);
    const controller = new AbortController();
    const leaving = ask(model, controller.signal);
    expect(clock.pendingTimers()).toBe(1);
    controller.abort();
    await leaving.pending;
    expect(clock.pendingTimers()).toBe(0);
  });

  test('before the call begins nothing, and takes no place', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, hello(1));
    const model = withModelLimits(inner, { requestsPerMinute: 1, clock });
    expect(await ask(model, AbortSignal.abort()).pending).toMatchObject({ failure: { code: 'aborted' } });
    expect((await model.generate(request)).ok).toBe(true);
  });
});

describe('limits that several processes share (G5)', () => {
  /** Asks so many times, as a process that shares its limits with as many as the function says. */
  const askShared = (model: Model, count: number, sharedBy: () => number): readonly Promise<ModelOutcome>[] =>
    Array.from({ length: count }, () => model.generate({ ...request, sharedBy }));

  test('are divided, but one call may always run', async () => {
    const clock = createFakeClock();
    for (const [sharedBy, most] of [
      [1, 4],
      [3, 1],
      [4, 1],
      [9, 1],
      [2, 2],
    ] as const) {
      const inner = slowModel(clock, hello(6, 100));
      const asked = askShared(withModelLimits(inner, { concurrent: 4, clock }), 6, () => sharedBy);
      await clock.advance(10_000);
      await Promise.all(asked);
      expect([sharedBy, inner.most()]).toStrictEqual([sharedBy, most]);
    }
    expect(clock.pendingTimers()).toBe(0);
  });

  test('divide requests and tokens of a minute; less than one request a minute is a longer wait', async () => {
    const clock = createFakeClock();
    const inner = slowModel(clock, hello(4));
    const asked = askShared(withModelLimits(inner, { requestsPerMinute: 4, clock }), 4, () => 2);
    const rare = slowModel(clock, hello(2));
    const askedRarely = askShared(withModelLimits(rare, { requestsPerMinute: 1, clock }), 2, () => 4);
    const counted = slowModel(
      clock,
      [1, 2, 3].map(() => ({ text: 'a', usage: { input: 50, output: 0 }, takesMs: 1000 })),
    );
    const askedMuch = askShared(withModelLimits(counted, { tokensPerMinute: 100, concurrent: 1, clock }), 3, () => 2);
    await clock.advance(240_000);
    await Promise.all([...asked, ...askedRarely, ...askedMuch]);
    expect([inner.begun, rare.begun]).toStrictEqual([
      [0, 0, 60_000, 60_000],
      [0, 240_000],
    ]);
    expect(counted.begun).toStrictEqual([0, 61_000, 122_000]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test.each([
    ['calls at once', { concurrent: 4 }, 100_000],
    ['requests of a minute', { requestsPerMinute: 4 }, 0],
  ] as const)('are those of now for whoever waits: %s', async (_, limits, takesMs) => {
    const clock = createFakeClock();
    const inner = slowModel(clock, hello(6, takesMs));
    let sharedBy = 2;
    const asked = askShared(withModelLimits(inner, { ...limits, clock }), 6, () => sharedBy);
    await clock.advance(10_000);
    expect(inner.begun).toStrictEqual([0, 0]);
    sharedBy = 1;
    await clock.advance(1000);
    expect(inner.begun).toStrictEqual([0, 0, 11_000, 11_000]);
    sharedBy = 4;
    await clock.advance(300_000);
    await Promise.all(asked);
    expect(inner.begun.length).toBe(6);
    expect(clock.pendingTimers()).toBe(0);
  });
});

test.each([
  { concurrent: 0 },
  { requestsPerMinute: 0 },
  { tokensPerMinute: Number.NaN },
  { coolDownMs: -1 },
  { longestCoolDownMs: Number.NaN },
])('the limit %o is refused', (options) => {
  expect(() => createModelLimits(options)).toThrow(InvalidArgumentError);
});

test('a key for limits that nobody shares is refused, and told how to share', () => {
  expect(() => withModelLimits(scriptedModel([]), { concurrent: 1 }, 'mine')).toThrow(InvalidArgumentError);
  expect(() => withModelLimits(scriptedModel([]), { concurrent: 1 }, 'mine')).toThrow('createModelLimits({…})');
});

test('a call that is aborted gives up its place, even where the model ignores the signal', async () => {
  const controller = new AbortController();
  let isDeaf = true;
  const quick = scriptedModel([{ text: 'b' }]);
  const model = withModelLimits(
    { ...quick, generate: (asked) => (isDeaf ? new Promise<never>(() => undefined) : quick.generate(asked)) },
    { concurrent: 1, clock: createFakeClock() },
  );
  const first = model.generate({ ...request, signal: controller.signal });
  const second = model.generate(request);
  isDeaf = false;
  controller.abort();
  expect(await first).toMatchObject({ ok: false, failure: { code: 'aborted' } });
  expect((await second).ok).toBe(true);
});

test('a stream waits and is limited like any call', async () => {
  const clock = createFakeClock();
  const inner = slowModel(clock, hello(2));
  const model = withModelLimits(inner, { requestsPerMinute: 1, clock });
  const heard: string[] = [];
  await model.stream(request, (delta) => heard.push(delta.type));
  const second = model.stream(request, (delta) => heard.push(delta.type));
  await clock.advance(60_000);
  await second;
  expect([inner.begun, heard]).toStrictEqual([
    [0, 60_000],
    ['text', 'text'],
  ]);
});

interface Caller {
  readonly atMs: number;
  readonly takesMs: number;
  readonly tokens: number;
  readonly abortAfterMs: number | undefined;
  readonly retryAfterMs: number | undefined;
}

const caller: fc.Arbitrary<Caller> = fc.record({
  atMs: fc.nat(90_000),
  takesMs: fc.nat(20_000),
  tokens: fc.nat(60),
  abortAfterMs: fc.option(fc.nat(60_000), { nil: undefined, freq: 4 }),
  retryAfterMs: fc.option(fc.nat(20_000), { nil: undefined, freq: 6 }),
});

// The clock's steps let promises settle, which takes real time: many small cases are better than few large ones.
test('whatever comes: never too many at once or in a minute, first come first served, and all come to an end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(caller, { minLength: 1, maxLength: 10 }),
      fc.record(
        {
          concurrent: fc.integer({ min: 1, max: 3 }),
          requestsPerMinute: fc.integer({ min: 1, max: 4 }),
          tokensPerMinute: fc.integer({ min: 1, max: 100 }),
        },
        { requiredKeys: [] },
      ),
      async (callers, options) => {
        const clock = createFakeClock();
        const order: { came: number; begunAt: number }[] = [];
        let [running, most, came, ended] = [0, 0, 0, 0];
        const model = withModelLimits(
          {
            provider: 'p',
            modelId: 'm',
            stream: () => Promise.reject(new Error('unused')),
            generate: async ({ signal, settings }) => {
              // The caller's number travels as the seed.
              const { takesMs, tokens, retryAfterMs } = callers[settings?.topK ?? 0]!;
              order.push({ came: settings?.seed ?? 0, begunAt: clock.monotonic() });
              most = Math.max(most, (running += 1));
              await sleep(clock, takesMs, signal).catch(() => undefined);
              running -= 1;
              const response = { parts: [], usage: { input: tokens, output: 0, total: tokens } };
              return retryAfterMs === undefined
                ? { ok: true, response }
                : { ok: false, partial: response, failure: { type: 'rate_limit', code: 'x', message: '', retryable: true, retryAfterMs } };
            },
          },
          { ...options, clock },
        );
        callers.forEach(({ atMs, abortAfterMs }, index) => {
          clock.schedule(atMs, () => {
            const controller = new AbortController();
            if (abortAfterMs !== undefined)
              clock.schedule(abortAfterMs, () => {
                controller.abort();
              });
            void model
              .generate({ ...request, settings: { seed: (came += 1), topK: index }, signal: controller.signal })
              .then(() => (ended += 1));
          });
        });
        await clock.advance(3_600_000);

        expect(ended).toBe(callers.length);
        expect(clock.pendingTimers()).toBe(0);
        expect(most).toBeLessThanOrEqual(options.concurrent ?? callers.length);
        const numbers = order.map((each) => each.came);
        expect(numbers).toStrictEqual(numbers.toSorted((left, right) => left - right));
        const begun = order.map(({ begunAt }) => begunAt);
        for (const from of begun) {
          expect(begun.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(
            options.requestsPerMinute ?? callers.length,
          );
        }
      },
    ),
    { numRuns: pickRuns({ quick: 20, slow: 500 }) },
  );
});
