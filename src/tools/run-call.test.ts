import type { EffectOptions, EffectResult, Effects } from '../effects/index.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { classifyError, RateLimitedError, TimedOutError } from '../errors/index.ts';
import type { Failure } from '../errors/index.ts';
import type { FakeClock, Json } from '../lib/index.ts';
import { createFakeClock } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { toolResultText } from '../messages/index.ts';
import { defineTool } from './define-tool.ts';
import { prepareCall } from './prepare-call.ts';
import { runCall } from './run-call.ts';
import type { RunCallOptions } from './run-call.ts';
import type { Tool } from './tool.ts';
import type { ToolContext } from './tool-context.ts';
import type { ToolExecution } from './tool-execution.ts';
import { ToolSet } from './tool-set.ts';

type Kind = Extract<EffectResult<unknown>, { ok: false }>['kind'];
const never = (): Promise<never> => new Promise(() => undefined);

/** Goes straight through, as the loop's own effects do; those are tried in tests/. */
function createSurroundings() {
  const [clock, controller] = [createFakeClock(1000), new AbortController()];
  const asked: { key: string; options: EffectOptions }[] = [];
  const run: Effects['run'] = (key, work, options = {}) =>
    new Promise((resolve) => {
      asked.push({ key, options });
      const own = new AbortController();
      const { timeoutMs, failsAs = 'unknown' } = options;
      const fail = (kind: Kind, failure: Failure): void => resolve({ ok: false, kind, ...failure });
      const cancel = (): void => {
        own.abort(controller.signal.reason);
        fail('cancelled', { type: 'unknown', code: 'cancelled', message: 'interrupted', retryable: false });
      };
      if (controller.signal.aborted) {
        cancel();
        return;
      }
      controller.signal.addEventListener('abort', cancel);
      const stop =
        timeoutMs === undefined
          ? undefined
          : clock.schedule(timeoutMs, () => {
              const error = new TimedOutError(`${key} took longer than ${timeoutMs} ms.`);
              own.abort(error);
              fail('timeout', classifyError(error));
            });
      const begin = async () => work(own.signal);
      void begin()
        .then(
          (value) => resolve({ ok: true, value }),
          (error: unknown) => fail('error', classifyError(error, { fallback: failsAs })),
        )
        .finally(() => stop?.());
    });
  return { clock, controller, asked, run };
}

const input = z.object({ n: z.number().optional() });
const tool = (
  name: string,
  run: (args: { n?: number | undefined }, ctx: ToolContext) => unknown,
  more: { timeoutMs?: number; effect?: 'pure' | 'idempotent' | 'once' } = {},
) => defineTool({ name, description: 'A tool.', input, run, ...more });
const createCall = (name: string, args: Json = {}, id = `id-${name}`): ToolCall => ({ id, name, args });

interface Overrides extends Partial<Omit<RunCallOptions, 'effects'>> {
  readonly run?: Effects['run'];
  readonly signal?: AbortSignal;
}

/** Prepares and runs each call, all at once. */
function start(tools: readonly Tool[], calls: readonly ToolCall[], { run: ownRun, signal, ...more }: Overrides = {}) {
  const around = createSurroundings();
  const { clock, run } = around;
  const set = ToolSet.from(tools);
  const runOneCall = async (call: ToolCall, index: number): Promise<ToolExecution> => {
    const prepared = await prepareCall(set, call, { context: undefined, clock, ...(signal !== undefined && { signal }) });
    if (prepared.type === 'ended') return prepared.execution;
    if (prepared.type !== 'ready') throw new Error(`a call is ${prepared.type}`);
    const [key, idempotencyKey] = [`tool/3/${index}`, `s/e/3/${call.id}/${index}`];
    return runCall(prepared, { effects: { run: ownRun ?? run }, clock, key, idempotencyKey, context: undefined, ...more });
  };
  return { ...around, pending: Promise.all(calls.map(runOneCall)) };
}

async function runOne(given: Tool, more: Overrides = {}): Promise<ToolExecution> {
  const [execution] = await start([given], [createCall(given.name)], more).pending;
  if (execution === undefined) throw new Error('nothing came of it');
  return execution;
}

describe('runCall', () => {
  it.each([
    ['at once', (value: object): unknown => value],
    ['later', (value: object): unknown => Promise.resolve(value)],
  ])('keeps a result as it was when it came, %s, whatever the tool or a reader does with it', async (_, give) => {
    const own = { found: [{ n: 1 }] };
    const execution = await runOne(tool('look', () => give(own)));
    own.found.push({ n: 2 });
    const kept = execution.value as typeof own;
    expect(() => kept.found.push({ n: 3 })).toThrow(TypeError);
    expect(() => Object.assign(kept.found[0] ?? {}, { n: 4 })).toThrow(TypeError);
    expect(execution).toMatchObject({ value: { found: [{ n: 1 }] }, output: { type: 'json', value: { found: [{ n: 1 }] } } });
  });

  it('gives one execution per call, in the order of the calls (C1)', async () => {
    const tools = [
      tool('slow', async () => {
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        return 'slow';
      }),
      tool('quick', () => 'quick'),
    ];
    const { pending, asked } = start(tools, [createCall('slow'), createCall('quick'), createCall('none'), createCall('quick')]);
    const executions = await pending;
    expect(executions.map(({ toolName, status }) => [toolName, status])).toEqual([
      ['slow', 'succeeded'],
      ['quick', 'succeeded'],
      ['none', 'failed'],
      ['quick', 'succeeded'],
    ]);
    expect(asked.map(({ key }) => key)).toEqual(['tool/3/0', 'tool/3/1', 'tool/3/3']);
    expect(executions[0]).toEqual({
      toolCallId: 'id-slow',
      toolName: 'slow',
      args: {},
      status: 'succeeded',
      value: 'slow',
      output: { type: 'text', value: 'slow' },
      startedAt: 1000,
      durationMs: 0,
    });
  });

  it.each([
    ['returned', () => new RateLimitedError('too many')],
    ['returned by a promise', () => Promise.resolve(new RateLimitedError('too many'))],
    [
      'returned last by an iterable',
      async function* (): AsyncGenerator {
        yield 'half';
        yield new RateLimitedError('too many');
      },
    ],
  ])('fails if an Error is %s, as if it had been thrown', async (_, run) => {
    const thrown = await runOne(
      tool('t', () => {
        throw new RateLimitedError('too many');
      }),
    );
    expect(thrown).toMatchObject({ status: 'failed', failure: { type: 'rate_limit', message: 'too many' } });
    expect(await runOne(tool('t', run))).toStrictEqual(thrown);
  });

  it('cuts what the model reads of a long result, and keeps the whole of it', async () => {
    const long = 'x'.repeat(60_000);
    const { value, output } = await runOne(tool('t', () => long));
    expect(value).toBe(long);
    expect(toolResultText(output)).toMatch(/^x{50000}\n\n\[This result was cut: these are the first 50000 of 60000 characters\./);
    const short = await runOne(defineTool({ name: 't', description: 'A tool.', input, maxResultChars: 3, run: () => ({ a: 1 }) }));
    expect(short).toMatchObject({ value: { a: 1 }, output: { type: 'text', value: expect.stringMatching(/^\{"a\n\n\[/) as string } });
    const whole = await runOne(defineTool({ name: 't', description: 'A tool.', input, maxResultChars: Infinity, run: () => long }));
    expect(whole.output).toStrictEqual({ type: 'text', value: long });
  });

  it('cuts what toModelOutput gives', async () => {
    const shown = defineTool({ name: 't', description: 'A tool.', input, maxResultChars: 3, run: () => 1, toModelOutput: () => 'abcdef' });
    expect(toolResultText((await runOne(shown)).output)).toMatch(/^abc\n\n\[/);
  });

  it('says of a result that is too large to store how large it is, and what to do', async () => {
    const { failure } = await runOne(tool('t', () => ({ rows: Array.from({ length: 300_000 }, () => 'row') })));
    expect(failure?.message).toBe(
      'The result of "t" cannot be stored: it takes 1800010 bytes as JSON, and at most 999900 can be stored. Return less: one page, a summary, or an id under which the tool finds the rest.',
    );
  });

  it('tells the effects what kind of work it is', async () => {
    const { pending, asked } = start(
      [tool('a', () => 1, { effect: 'idempotent', timeoutMs: 70 }), tool('b', () => 1)],
      [createCall('a'), createCall('b')],
    );
    await pending;
    expect(asked.map(({ options }) => options)).toEqual([
      { effect: 'idempotent', timeoutMs: 70, failsAs: 'tool' },
      { effect: 'once', failsAs: 'tool' },
    ]);
  });

  it('hands the tool its arguments, its context and its keys', async () => {
    let seen: unknown;
    const state = { read: 'only' };
    const given = tool('look', (args, { signal, report, ...ctx }) => {
      seen = [args, ctx, signal.aborted, typeof report];
    });
    const execution = await runOne(given, { context: { db: 1 }, state });
    expect(seen).toEqual([{}, { context: { db: 1 }, toolCallId: 'id-look', idempotencyKey: 's/e/3/id-look/0', state }, false, 'function']);
    expect(execution).toMatchObject({ status: 'succeeded', value: null });
  });

  it('measures how long a call took', async () => {
    // The tool begins at once, so the clock is reached through the set-up, not through its result.
    const setUp: { clock?: FakeClock } = {};
    const waiting = tool('wait', async (_args, { signal }) => {
      await Promise.resolve();
      return new Promise((resolve) => setUp.clock?.schedule(250, () => resolve(signal.aborted)));
    });
    const { pending, clock } = start([waiting], [createCall('wait')]);
    setUp.clock = clock;
    await clock.advance(250);
    expect((await pending)[0]).toMatchObject({ startedAt: 1000, durationMs: 250, value: false });
  });

  it.each<[string, () => unknown, Partial<Failure>]>([
    ['an error', () => Promise.reject(new Error('no map')), { type: 'tool', message: 'no map' }],
    [
      'a synchronous throw',
      () => {
        throw new Error('at once');
      },
      { type: 'tool', message: 'at once' },
    ],
    [
      'a rate limit',
      () => Promise.reject(new RateLimitedError('slow down', { retryAfterMs: 5 })),
      { type: 'rate_limit', code: 'rate-limited', retryAfterMs: 5 },
    ],
    [
      'a wrapped rate limit',
      () => Promise.reject(new Error('outer', { cause: new RateLimitedError('slow down') })),
      { type: 'rate_limit', message: 'outer' },
    ],
    [
      'something that is no error',
      () => {
        throw undefined as unknown;
      },
      { type: 'tool', message: 'undefined' },
    ],
    // A thenable that rejects.
    [
      'a thenable',
      () => ({
        then: (_: unknown, reject: (reason: string) => void) => {
          reject('thenable');
        },
      }),
      { type: 'tool', message: 'thenable' },
    ],
    ['an abort of its own', () => Promise.reject(new DOMException('given up', 'AbortError')), { type: 'tool', message: 'given up' }],
  ])('turns %s into a failure that the model can read', async (_name, run, failure) => {
    const execution = await runOne(tool('t', run));
    expect(execution).toMatchObject({
      status: 'failed',
      failure: { ...failure, readable: true, toolName: 't', toolCallId: 'id-t' },
      output: { type: 'error' },
    });
    expect(toolResultText(execution.output)).toBe(`"t" failed: ${String(execution.failure?.message)}`);
  });

  it('fails the call whose value cannot be stored', async () => {
    expect(await runOne(tool('t', () => new Map()))).toMatchObject({
      status: 'failed',
      failure: {
        type: 'tool',
        message: 'The result of "t" cannot be stored: it is a Map; turn it into an object or an array of entries. Return plain JSON data.',
      },
    });
    expect(await runOne(tool('t', () => 'x'.repeat(2_000_000)))).toMatchObject({ status: 'failed', failure: { type: 'tool' } });
  });

  it('shows the result itself where toModelOutput throws: what was done must not be tried again', async () => {
    const given = defineTool({
      name: 't',
      description: 'A tool.',
      input,
      run: () => 1,
      toModelOutput: () => {
        throw new Error('no words');
      },
    });
    const problems: unknown[] = [];
    const onProblem = (error: unknown): void => void problems.push(error);
    expect(await runOne(given, { onProblem })).toMatchObject({ status: 'succeeded', value: 1, output: { type: 'json', value: 1 } });
    expect(String(problems)).toContain('no words');
  });

  it('takes thenables, and values however they come', async () => {
    expect(
      await runOne(
        tool('t', () => ({
          then: (resolve: (value: number) => void) => {
            resolve(7);
          },
        })),
      ),
    ).toMatchObject({ value: 7 });
  });

  it('ends a hanging tool at its time-out, by its own name', async () => {
    let signal: AbortSignal | undefined;
    const { pending, clock } = start(
      [
        tool(
          'hang',
          (_args, ctx) => {
            ({ signal } = ctx);
            return never();
          },
          { timeoutMs: 100 },
        ),
        tool('safe', never, { timeoutMs: 100, effect: 'pure' }),
      ],
      [createCall('hang'), createCall('safe')],
    );
    await clock.advance(100);
    const [once, pure] = await pending;
    expect(once).toMatchObject({
      status: 'failed',
      durationMs: 100,
      failure: { type: 'timeout', code: 'timed-out', message: '"hang" took longer than 100 ms.' },
    });
    expect(once?.output).toEqual({
      type: 'error',
      value: '"hang" failed: "hang" took longer than 100 ms. It may or may not have taken effect.',
    });
    expect(pure?.output).toEqual({ type: 'error', value: '"safe" failed: "safe" took longer than 100 ms.' });
    expect([signal?.aborted, clock.pendingTimers()]).toEqual([true, 0]);
  });

  it('closes what an interruption cut off as cancelled, or as unknown where it may have happened (C2)', async () => {
    const tools = [tool('once', never), tool('pure', never, { effect: 'pure' }), tool('idempotent', never, { effect: 'idempotent' })];
    const { pending, controller } = start(tools, [createCall('once'), createCall('pure'), createCall('idempotent')]);
    await Promise.resolve().then(() => new Promise(setImmediate));
    controller.abort(new Error('enough'));
    const executions = await pending;
    expect(executions.map(({ status }) => status)).toEqual(['unknown', 'cancelled', 'cancelled']);
    expect(executions.map(({ failure }) => failure)).toEqual([undefined, undefined, undefined]);
    expect(executions.every(({ output }) => toolResultText(output) !== '')).toBe(true);
  });

  it('does not wait for a check that hangs', async () => {
    const controller = new AbortController();
    const given = defineTool({ name: 't', description: 'A tool.', input: z.object({ n: z.number().refine(never) }), run: () => 1 });
    const { pending } = start([given], [createCall('t', { n: 1 })], { signal: controller.signal });
    controller.abort();
    expect(await pending).toMatchObject([{ status: 'cancelled' }]);
  });

  it('rejects if the effects do: then nothing can be kept', async () => {
    await expect(
      start([tool('t', () => 1)], [createCall('t')], { run: () => Promise.reject(new Error('the store is gone')) }).pending,
    ).rejects.toThrow('the store is gone');
  });

  it('gives each of two calls with one id its own execution', async () => {
    const { pending } = start([tool('t', ({ n }) => n)], [createCall('t', { n: 1 }, 'same'), createCall('t', { n: 2 }, 'same')]);
    expect((await pending).map(({ value }) => value)).toEqual([1, 2]);
  });
});

describe('progress', () => {
  const heard = async (given: Tool): Promise<readonly unknown[]> => {
    const told: unknown[] = [];
    const execution = await runOne(given, { onProgress: (progress) => told.push(progress) });
    return [...told, execution.status === 'succeeded' ? execution.value : execution.status];
  };

  it('is what the tool reports, in its stored form', async () => {
    const given = tool('t', (_args, { report }) => {
      report({ done: 1, at: new Date(0) });
      report(new Map());
      return 'end';
    });
    expect(await heard(given)).toEqual([{ done: 1, at: '1970-01-01T00:00:00.000Z' }, 'end']);
  });

  it('is each value of an async iterable, the last of which is the result', async () => {
    expect(
      await heard(
        tool('t', async function* () {
          yield 1;
          yield 2;
        }),
      ),
    ).toEqual([1, 2, 2]);
    expect(
      await heard(
        tool('t', async () =>
          (async function* () {
            yield 1;
          })(),
        ),
      ),
    ).toEqual([1, 1]);
    expect(
      await heard(
        tool('t', async function* () {
          yield 1;
          return 'said at the end';
        }),
      ),
    ).toEqual([1, 'said at the end']);
    expect(await heard(tool('t', async function* () {}))).toEqual([null]);
    expect(
      await heard(
        tool('t', async function* () {
          yield 1;
          throw new Error('broken off');
        }),
      ),
    ).toEqual([1, 'failed']);
  });

  it('is dropped after the end (C3)', async () => {
    const told: unknown[] = [];
    let report: ((progress: unknown) => void) | undefined;
    const given = tool('t', (_args, ctx) => void ({ report } = ctx));
    await runOne(given, { onProgress: (progress) => told.push(progress) });
    report?.('too late');
    expect(told).toEqual([]);
  });

  it('of an abandoned iterable ends, and the iterable is closed', async () => {
    let [closed, told] = [false, 0];
    let goOn = (): void => undefined;
    const given = tool(
      't',
      async function* () {
        try {
          yield 1;
          await new Promise<void>((resolve) => (goOn = resolve));
          yield 2;
          yield 3;
        } finally {
          closed = true;
        }
      },
      { timeoutMs: 10 },
    );
    const { pending, clock } = start([given], [createCall('t')], { onProgress: () => (told += 1) });
    await clock.advance(10);
    await pending;
    goOn();
    await new Promise(setImmediate);
    expect([closed, told]).toEqual([true, 1]);
  });
});

describe('a call whose end nobody saw', () => {
  const unknownFirst =
    (run: Effects['run']): Effects['run'] =>
    (key, work, options) =>
      key.endsWith('/reconcile')
        ? run(key, work, options)
        : Promise.resolve({ ok: false, kind: 'unknown', type: 'unknown', code: 'unknown', message: 'cut off', retryable: false });
  const settle = async (reconcile?: (key: string) => unknown) => {
    const given = defineTool({
      name: 't',
      description: 'A tool.',
      input,
      run: () => 'run again',
      timeoutMs: 50,
      ...(reconcile !== undefined && { reconcile: reconcile as never }),
      toModelOutput: (value) => `shown ${value}`,
    });
    const { run, clock, asked } = createSurroundings();
    const pending = runOne(given, { run: unknownFirst(run), clock });
    await clock.advance(50);
    return { execution: await pending, asked };
  };

  it('is unknown without reconcile, and no failure', async () => {
    const { execution } = await settle();
    expect(execution).toMatchObject({ status: 'unknown', output: { type: 'error' } });
    expect(execution.failure).toBeUndefined();
  });

  it('gets the result that reconcile found', async () => {
    const { execution, asked } = await settle(async (key) => ({ happened: true, result: `of ${key}` }));
    expect(execution).toMatchObject({
      status: 'succeeded',
      value: 'of s/e/3/id-t/0',
      output: { type: 'text', value: 'shown of s/e/3/id-t/0' },
    });
    expect(asked).toEqual([{ key: 'tool/3/0/reconcile', options: { effect: 'pure', failsAs: 'tool', timeoutMs: 50 } }]);
  });

  it('is cancelled where reconcile found that it did not happen', async () => {
    const { execution } = await settle(() => ({ happened: false }));
    expect(execution.status).toBe('cancelled');
    expect(toolResultText(execution.output)).toContain('Call it again');
  });

  it.each<[string, (key: string) => unknown]>([
    ['cannot say', () => undefined],
    ['answers nonsense', () => ({ happened: 'maybe' })],
    [
      'throws',
      () => {
        throw new Error('no network');
      },
    ],
    ['hangs', never],
    ['finds what cannot be stored', () => ({ happened: true, result: new Map() })],
  ])('stays unknown where reconcile %s', async (_name, reconcile) => {
    expect((await settle(reconcile)).execution.status).toBe('unknown');
  });
});

describe('a journaled call', () => {
  it('becomes the same execution again without running the tool (C4)', async () => {
    const journal = new Map<string, string>();
    let ran = 0;
    const given = defineTool({
      name: 't',
      description: 'A tool.',
      input,
      run: () => (ran += 1),
      toModelOutput: (count) => [{ type: 'text', text: `${count}` }],
    });
    const { run: direct } = createSurroundings();
    const run: Effects['run'] = async <Value>(key: string, work: (signal: AbortSignal) => Value | Promise<Value>) => {
      const kept = journal.get(key);
      if (kept !== undefined) return JSON.parse(kept) as EffectResult<Value>;
      const outcome = await direct(key, work);
      journal.set(key, JSON.stringify(outcome));
      return outcome;
    };
    const first = await runOne(given, { run });
    const second = await runOne(given, { run, clock: createFakeClock(999_999) });
    expect(second).toEqual(first);
    expect(ran).toBe(1);
  });
});
