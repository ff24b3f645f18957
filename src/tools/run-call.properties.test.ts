// Random calls of random tools: whatever comes, there is one plain execution per call that the model can read.
import type { EffectResult, Effects } from '../effects/index.ts';
import { EffectClass } from '../effects/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { classifyError, RateLimitedError, TimedOutError } from '../errors/index.ts';
import type { Failure } from '../errors/index.ts';
import { createFakeClock } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { toolResultText } from '../messages/index.ts';
import { defineClientTool } from './define-client-tool.ts';
import { defineTool } from './define-tool.ts';
import type { EndedCall, NestedCall, WaitingCall } from './prepare-call.ts';
import { prepareCall } from './prepare-call.ts';
import { runCall } from './run-call.ts';
import type { ToolContext } from './tool-context.ts';
import type { ToolExecution } from './tool-execution.ts';
import { toToolMessages } from './tool-execution.ts';
import { ToolSet } from './tool-set.ts';

// The slow test runs the same property many times over.
const numRuns = pickRuns({ quick: 150, slow: 20_000 });

type Kind = Extract<EffectResult<unknown>, { ok: false }>['kind'];

const circle: { self?: unknown } = {};
circle.self = circle;
const oddValue = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  {
    weight: 1,
    arbitrary: fc.anything({
      maxDepth: 2,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown[]>(
      undefined,
      '',
      'a\uD800',
      '\0',
      Number.NaN,
      -0,
      10n,
      Symbol('s'),
      () => 1,
      circle,
      new Date(Number.NaN),
      {
        get a(): never {
          throw new Error('getter');
        },
      },
      JSON.parse('{"__proto__":{"x":1},"constructor":2}'),
    ),
  },
);

const behaviour = fc.oneof(
  fc.record({ does: fc.constant('return' as const), value: oddValue }),
  fc.record({ does: fc.constant('return-later' as const), value: oddValue, ms: fc.nat(250) }),
  fc.record({
    does: fc.constant('throw' as const),
    value: fc.oneof(
      oddValue,
      fc.constantFrom(
        new Error(''),
        new Error('broken'),
        new RateLimitedError('slow down', { retryAfterMs: 3 }),
        new TimedOutError('late'),
        new DOMException('', 'AbortError'),
      ),
    ),
  }),
  fc.record({ does: fc.constant('hang' as const) }),
  fc.record({ does: fc.constant('obey' as const) }),
  fc.record({ does: fc.constant('thenable' as const), value: oddValue, rejects: fc.boolean() }),
  fc.record({
    does: fc.constant('iterate' as const),
    values: fc.array(oddValue, { maxLength: 3 }),
    ends: fc.constantFrom('well', 'throw', 'hang'),
  }),
);
type Behaviour = typeof behaviour extends fc.Arbitrary<infer Value> ? Value : never;

const names = ['plain', 'timed', 'pure', 'idempotent', 'shown', 'checked', 'brittle', 'constructor', 'gated', 'client'];
const call: fc.Arbitrary<ToolCall> = fc
  .record(
    {
      id: fc.oneof(fc.constantFrom('same', '', '__proto__', 'a\uD800'), fc.string()),
      name: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...names) },
        { weight: 1, arbitrary: fc.constantFrom('__proto__', 'toString', '', 'plane') },
        { weight: 1, arbitrary: fc.string() },
      ),
      args: fc.oneof({ weight: 3, arbitrary: fc.record({ n: fc.integer() }, { requiredKeys: [] }) }, { weight: 1, arbitrary: oddValue }),
      rawArgs: fc.oneof(fc.json(), fc.string(), fc.constantFrom('', '{"n":1', '{"__proto__":{"n":1}}')),
    },
    { requiredKeys: ['id', 'name', 'args'] },
  )
  // Holds for a caller that no compiler watched: anything may stand in the place of the arguments.
  .map((given) => given as ToolCall);

const plan = fc.record({
  calls: fc.array(call, { maxLength: 12 }),
  behaviours: fc.array(behaviour, { minLength: 1, maxLength: 5 }),
  abortAt: fc.nat(6),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

const forever = (): Promise<never> => new Promise(() => undefined);

function toolsFor(behaviours: readonly Behaviour[], clock: ReturnType<typeof createFakeClock>) {
  async function* iterate({ values, ends }: Extract<Behaviour, { does: 'iterate' }>): AsyncGenerator {
    yield* values;
    if (ends === 'throw') throw new Error('broken off');
    if (ends === 'hang') await forever();
  }
  const behave = (given: Behaviour, { signal, report }: ToolContext): unknown => {
    report(given.does);
    clock.schedule(40, () => report('late'));
    switch (given.does) {
      case 'return':
        return given.value;
      case 'return-later':
        return new Promise((resolve) => clock.schedule(given.ms, () => resolve(given.value)));
      case 'throw':
        throw given.value;
      case 'hang':
        return forever();
      case 'obey':
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      case 'thenable':
        return {
          then: (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => (given.rejects ? reject : resolve)(given.value),
        };
      case 'iterate':
        return iterate(given);
    }
  };
  const run = (_args: unknown, ctx: ToolContext): unknown =>
    behave(behaviours[Number(ctx.idempotencyKey) % behaviours.length] ?? { does: 'hang' }, ctx);
  const input = { type: 'object', properties: { n: { type: 'integer' } } } as const;
  const shared = { description: 'A tool.', input, run };
  return ToolSet.from({
    plain: defineTool({ ...shared, name: 'plain' }),
    timed: defineTool({ ...shared, name: 'timed', timeoutMs: 100 }),
    pure: defineTool({ ...shared, name: 'pure', effect: EffectClass.Pure }),
    idempotent: defineTool({ ...shared, name: 'idempotent', effect: EffectClass.Idempotent, timeoutMs: 30 }),
    shown: defineTool({ ...shared, name: 'shown', toModelOutput: (result) => result as string }),
    checked: defineTool({ ...shared, name: 'checked', output: { type: ['string', 'null'] }, run: run as () => string }),
    brittle: defineTool({
      ...shared,
      name: 'brittle',
      toModelOutput: () => {
        throw new Error('no words');
      },
    }),
    constructor: defineTool({ ...shared, name: 'constructor' }),
    gated: defineTool({
      ...shared,
      name: 'gated',
      needsApproval: ({ n = 0 }) => {
        if (n < 0) throw new Error('no rules');
        return n > 3;
      },
    }),
    client: defineClientTool({ name: 'client', description: 'A tool.', input }),
  });
}

/** Goes straight through; counts how much is at work. */
function createRunner(clock: ReturnType<typeof createFakeClock>, { signal }: AbortController) {
  const count = { working: 0 };
  const run: Effects['run'] = (key, work, { timeoutMs, failsAs = 'unknown' } = {}) =>
    new Promise((resolve) => {
      let isOpen = true;
      count.working += 1;
      const own = new AbortController();
      const settle = (outcome: EffectResult<never> | Parameters<typeof resolve>[0]): void => {
        if (!isOpen) return;
        isOpen = false;
        count.working -= 1;
        stop?.();
        signal.removeEventListener('abort', cancel);
        resolve(outcome);
      };
      const fail = (kind: Kind, failure: Failure): void => settle({ ok: false, kind, ...failure });
      const cancel = (): void => {
        own.abort(signal.reason);
        fail('cancelled', { type: 'unknown', code: 'cancelled', message: 'interrupted', retryable: false });
      };
      const stop =
        timeoutMs === undefined
          ? undefined
          : clock.schedule(timeoutMs, () => {
              const error = new TimedOutError(`${key} took longer than ${timeoutMs} ms.`);
              own.abort(error);
              fail('timeout', classifyError(error));
            });
      if (signal.aborted) {
        cancel();
        return;
      }
      signal.addEventListener('abort', cancel);
      const begin = async () => work(own.signal);
      begin().then(
        (value) => settle({ ok: true, value }),
        (error: unknown) => fail('error', classifyError(error, { fallback: failsAs })),
      );
    });
  return { run, count };
}

const mayFailAs: ReadonlySet<string> = new Set(['tool', 'timeout', 'rate_limit']);

function findProblems(execution: ToolExecution, given: ToolCall): readonly string[] {
  const { toolCallId, toolName, status, failure, value, output, durationMs } = execution;
  const stored = JSON.stringify(execution);
  const claims = {
    'is that of its call': toolCallId === given.id && toolName === given.name,
    'is plain data': stored === JSON.stringify(JSON.parse(stored)),
    'says something to the model': toolResultText(output) !== '',
    'has a failure just where it failed': (status === 'failed') === (failure !== undefined),
    'has a value just where it succeeded': (status === 'succeeded') === (value !== undefined),
    'fails as what it is':
      failure === undefined || (mayFailAs.has(failure.type) && failure.readable === true && failure.message.length < 5000),
    'took some time or none': durationMs >= 0 && Number.isInteger(durationMs),
  };
  return Object.entries(claims).flatMap(([claim, holds]) => (holds ? [] : [`${stored}: not true that it ${claim}`]));
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type CallOutcome = EndedCall | NestedCall | WaitingCall;

async function perform({ calls, behaviours, abortAt }: Plan) {
  const [clock, controller] = [createFakeClock(), new AbortController()];
  const { run, count } = createRunner(clock, controller);
  const problems: string[] = [];
  const set = toolsFor(behaviours, clock);
  const runOne = async (call: ToolCall, index: number): Promise<CallOutcome> => {
    const prepared = await prepareCall(set, call, { context: undefined, clock, signal: controller.signal });
    if (prepared.type !== 'ready') return prepared;
    let hasEnded = false;
    const execution = await runCall(prepared, {
      effects: { run },
      clock,
      key: `tool/1/${index}`,
      idempotencyKey: String(index),
      context: undefined,
      onProblem: () => undefined,
      onProgress: () => {
        if (hasEnded) problems.push('progress after the end');
      },
    });
    hasEnded = true;
    return { type: 'ended', call: prepared.call, execution };
  };
  const pending = Promise.all(calls.map(runOne));
  for (let round = 0; round < abortAt; round += 1) {
    await turn();
    clock.skip(50);
  }
  await turn();
  controller.abort('enough');
  const outcomes: readonly CallOutcome[] = await pending;
  clock.skip(1000);
  if (count.working > 0) problems.push(`${count.working} are still at work`);
  return { outcomes, problems, pendingTimers: clock.pendingTimers() };
}

test('every call gets exactly one outcome in its place, whatever calls and tools are like', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const { outcomes, problems, pendingTimers } = await perform(given);
      const executions = outcomes.flatMap((outcome) => (outcome.type === 'ended' ? [outcome.execution] : []));
      const found = given.calls.flatMap((called, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) return [`call ${index} has no outcome`];
        if (outcome.call.id !== called.id) return [`call ${index} has the outcome of another`];
        if (outcome.type === 'ended') return findProblems(outcome.execution, called);
        const waits = called.name === (outcome.type === 'client-tool' ? 'client' : 'gated');
        return waits ? [] : [`call ${index} is ${outcome.type}`];
      });
      expect([...problems, ...found].slice(0, 5)).toEqual([]);
      expect([outcomes.length, pendingTimers, toToolMessages(executions).length]).toEqual([given.calls.length, 0, executions.length]);
    }),
    { numRuns },
  );
}, 1_200_000);

test('thousands of calls at once are no different', async () => {
  const calls = Array.from({ length: 5000 }, (_, index): ToolCall => ({
    id: `c${index % 7}`,
    name: names[index % names.length] ?? '',
    args: { n: index % 5 },
  }));
  const { outcomes, problems } = await perform({
    calls,
    behaviours: [
      { does: 'return', value: 'fine' },
      { does: 'throw', value: 1 },
      { does: 'iterate', values: [1, 2], ends: 'well' },
    ],
    abortAt: 0,
  });
  expect([outcomes.length, problems]).toEqual([5000, []]);
  const found = outcomes.flatMap((outcome, index) => (outcome.type === 'ended' ? findProblems(outcome.execution, calls[index]!) : []));
  expect(found.slice(0, 5)).toEqual([]);
});
