// What becomes of work that was cut off: nothing of it goes on in secret, nothing of it is lost, and everybody is told once.
import type { Effects } from '../effects/index.ts';
import { describe, expect, test, vi } from 'vitest';
import type { ModelRequest } from '../inference/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock, sleep } from '../lib/index.ts';
import type { RunOptions } from '../step-by-step/index.ts';
import type { ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { Driver, ToolEvent, ToolUseStep, DriverContext } from '../tool-use/index.ts';
import { reActDriver, toolCallingDriver } from '../tool-use/index.ts';
import type { Tool, ToolContext, ToolExecution, Tools } from '../tools/index.ts';
import { defineContext, defineClientTool, defineTool } from '../tools/index.ts';
import type { AgentOptions } from './index.ts';
import { AgentState, createAgent } from './index.ts';

// The set-up

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedEntry => ({ toolCalls, usage });
const never = (): Promise<never> => new Promise(() => undefined);

const anything = { type: 'object', properties: {} } as const;
interface ToolMore {
  readonly needsApproval?: boolean;
  readonly effect?: 'pure' | 'once';
}
const tool = (name: string, run: (ctx: ToolContext) => unknown, more: ToolMore = {}): Tool =>
  defineTool({ name, description: `Does ${name}.`, input: anything, run: (_args, ctx) => run(ctx), ...more });
const wipe = tool('wipe', () => 'wiped', { needsApproval: true });
const work = tool('work', () => 'worked');
const hang = tool('hang', never);

/** A schema that checks as it likes. */
const schemaThat = (validate: (value: unknown) => Promise<{ readonly value: unknown }>) =>
  ({
    '~standard': {
      version: 1,
      vendor: 'test',
      validate,
      jsonSchema: { input: () => ({ type: 'object', properties: {} }), output: () => ({ type: 'object', properties: {} }) },
    },
  }) as const;

/** Lets time pass until the work is done. */
async function whileTimePasses<Value>(clock: FakeClock, underWay: Promise<Value>): Promise<Value> {
  const seen = { over: false };
  const end = (): void => {
    seen.over = true;
  };
  underWay.then(end, end);
  await clock.advance(0);
  for (let turns = 0; turns < 1000 && !seen.over; turns += 1) await clock.advance(10);
  if (!seen.over) throw new Error('The run did not end within 10 s.');
  return underWay;
}

type Given = RunOptions<AgentState, unknown, ToolEvent>;

function setUp(
  script: readonly ScriptedEntry[],
  options: Partial<Omit<AgentOptions, 'capabilities'>> | ((clock: FakeClock) => Partial<Omit<AgentOptions, 'capabilities'>>) = {},
) {
  const clock = createFakeClock();
  const ids = createCountingIds('id');
  const problems: unknown[] = [];
  const model = scriptedModel(script);
  const onProblem = (problem: unknown): number => problems.push(problem);
  const more = typeof options === 'function' ? options(clock) : options;
  const agent = createAgent<unknown, Tools>({ model, ...more, ports: { clock, ids, random: () => 0.5, onProblem } });
  const host = new AbortController();
  const events: ToolEvent[] = [];
  const begin = (input: AgentState | string = 'Go.', given: Given = {}) =>
    agent.start(input, {
      signal: host.signal,
      ...given,
      onEvent: (event) => {
        events.push(event);
        return given.onEvent?.(event);
      },
    });
  const run = (input: AgentState | string = 'Go.', given: Given = {}) => whileTimePasses(clock, begin(input, given).result);
  return { clock, model, agent, host, events, problems, begin, run };
}

const interruptions = ({ steps }: AgentState) => steps.map(({ interrupted }) => interrupted);
const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

// The tests

describe('a host that gives up between the deadline and the summary', () => {
  const atDeadline = { tools: [hang], limits: { wallMs: 1000, onLimit: 'finalize' } } as const;
  const script = [calls({ name: 'hang' }), says('A summary that nobody wants.')];

  test.each(['AgentStepCompleted', 'ContinuationEvaluated', 'AgentStateUpdated'] as const)(
    'while %s is told is heard, and no summary is asked for',
    async (type) => {
      const { run, host, model } = setUp(script, atDeadline);
      const { state, status } = await run('Go.', {
        onEvent: (event) => {
          if (event.type === type && event.stepNumber === 1) host.abort('enough');
        },
      });
      expect([status, state.stopReason, model.calls.length]).toStrictEqual(['stopped', 'user_requested', 1]);
      expect(interruptions(state)).toStrictEqual(['deadline', 'signal']);
      expect([state.text, state.usage.total]).toStrictEqual(['', 15]);
      expect(state.explain()).toContain('enough');
    },
  );

  test('while the step is being stored is heard, and no summary is asked for', async () => {
    const { run, host, model, clock } = setUp(script, atDeadline);
    const { state, status } = await run('Go.', {
      commit: ({ result }) => {
        if (result?.step.interrupted === 'deadline') clock.schedule(10, () => host.abort('enough'));
        return sleep(clock, 30);
      },
    });
    expect([status, state.stopReason, model.calls.length]).toStrictEqual(['stopped', 'user_requested', 1]);
    expect(interruptions(state)).toStrictEqual(['deadline', 'signal']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is heard also where it only asked to stop', async () => {
    const { begin, model, clock } = setUp(script, atDeadline);
    const running = begin('Go.', {
      onEvent: (event) => {
        if (event.type === 'AgentStepCompleted') running.requestStop('lunch');
      },
    });
    const { state } = await whileTimePasses(clock, running.result);
    expect([state.status, state.stopReason, model.calls.length]).toStrictEqual(['stopped', 'user_requested', 1]);
    expect(interruptions(state)).toStrictEqual(['deadline', 'request']);
  });

  test('where nobody gives up, the summary is asked for', async () => {
    const { run, model } = setUp(script, atDeadline);
    const { state } = await run();
    expect([state.stopReason, model.calls.length, interruptions(state)]).toStrictEqual(['time_limit', 2, ['deadline', undefined]]);
  });
});

describe('a producer that was left behind at the deadline', () => {
  const ran: string[] = [];
  const pay = tool('pay', ({ toolCallId }) => ran.push(toolCallId));

  /** Works on, deaf, for 1.2 s: 150 ms longer than the limit and its grace leave. The summary takes from 1.05 s to 1.55 s. */
  function leaveBehind(deaf: (turn: DriverContext, pause: () => Promise<void>) => Promise<ToolUseStep>) {
    ran.length = 0;
    const left: { turn?: DriverContext; over: boolean } = { over: false };
    const inTime: { clock?: FakeClock } = {};
    const world = setUp(
      [
        (request) => (isSummary(request) ? sleep(inTime.clock!, 500).then(() => ({ text: 'In short.', usage })) : pays),
        (request) => (isSummary(request) ? sleep(inTime.clock!, 500).then(() => ({ text: 'In short.', usage })) : pays),
        says('One too many.'),
      ],
      (clock) => {
        const driver: Driver = {
          name: 'deaf',
          ask: async (turn) => {
            if (turn.scope.finalizing) return toolCallingDriver().ask(turn);
            left.turn = turn;
            const step = await deaf(turn, () => sleep(clock, 1200));
            left.over = true;
            return step;
          },
        };
        return { driver, tools: [pay], limits: { wallMs: 1000, onLimit: 'finalize' } };
      },
    );
    inTime.clock = world.clock;
    return { ...world, left };
  }
  const pays = { toolCalls: [{ name: 'pay' }], usage: { input: 100, output: 1 } };
  const isSummary = ({ messages }: ModelRequest): boolean => messages.at(-1)?.metadata['purpose'] === 'finalize';

  test('asks no model and runs no tool while the summary is made', async () => {
    const { run, left, model, events } = leaveBehind(async (turn, pause) => {
      await pause();
      return toolCallingDriver().ask(turn);
    });
    const { state } = await run();
    expect(left.over).toBe(true);
    expect([state.status, state.stopReason, state.text]).toStrictEqual(['stopped', 'time_limit', 'In short.']);
    expect([model.calls.length, ran, state.usage.total]).toStrictEqual([1, [], 15]);
    expect(events.filter(({ type }) => type === 'InferenceStarted').map(({ stepNumber }) => stepNumber)).toStrictEqual([2]);
  });

  test('does not carry out the calls that it had found', async () => {
    const { run, left, model, events } = leaveBehind(async (turn, pause) => {
      const step = await toolCallingDriver().ask(turn);
      await pause();
      return step;
    });
    const { state } = await run();
    expect([left.over, model.calls.length, ran]).toStrictEqual([true, 2, []]);
    expect([state.stopReason, state.text]).toStrictEqual(['time_limit', 'In short.']);
    expect(events.filter(({ type }) => type.startsWith('ToolCall'))).toStrictEqual([]);
  });

  test('stays cut off, whatever it holds in its hands', async () => {
    const held: { effects?: Effects; signal?: AbortSignal } = {};
    const seen: unknown[] = [];
    const { run, left } = leaveBehind(async (turn, pause) => {
      held.effects = turn.scope.effects;
      held.signal = turn.scope.control.signal;
      await pause();
      const { scope } = turn;
      seen.push(scope.control.signal.aborted, held.signal.aborted, scope.control.interruption, scope.control.ending);
      for (const effects of [held.effects, scope.effects]) {
        seen.push(await effects.run('late', () => Promise.resolve(ran.push('late'))), await effects.sleep('late', 10));
      }
      return toolCallingDriver().ask(turn);
    });
    await run();
    expect(left.over).toBe(true);
    const cut: unknown = expect.objectContaining({ ok: false, kind: 'cancelled' });
    expect(seen).toStrictEqual([true, true, 'deadline', 'deadline', cut, cut, cut, cut]);
    expect(ran).toStrictEqual([]);
    // And also when all is over.
    const { scope } = left.turn!;
    expect([scope.control.signal.aborted, scope.control.interruption, scope.control.ending]).toStrictEqual([true, 'deadline', 'deadline']);
    expect(await scope.effects.run('later', () => Promise.resolve(ran.push('later')))).toMatchObject({ ok: false, kind: 'cancelled' });
    expect(ran).toStrictEqual([]);
  });
});

describe('an answer that is cut off while its schema is being checked', () => {
  const price = { price: ({ total }: { readonly total: number }) => ({ usd: total / 10 }) };
  const drivers = {
    'tool-calling': { driver: toolCallingDriver(), text: '{"a":1}' },
    're-act': { driver: reActDriver(), text: '{"thought":"","type":"final_answer","tool":null,"args":null,"answer":"{\\"a\\":1}"}' },
  } as const;

  test.each(['tool-calling', 're-act'] as const)('by its host keeps its words, usage and cost (%s)', async (name) => {
    const { driver, text } = drivers[name];
    const { begin, clock, host, model } = setUp([says(text)], { ...price, driver, output: schemaThat(never) });
    const running = begin();
    await clock.advance(10);
    expect(model.calls.length).toBe(1);
    host.abort('enough');
    const { state, ...result } = await whileTimePasses(clock, running.result);
    expect([result.status, state.stopReason, interruptions(state)]).toStrictEqual(['stopped', 'user_requested', ['signal']]);
    expect([result.usage.total, result.cost, result.text]).toStrictEqual([15, { usd: 1.5 }, '{"a":1}']);
    expect(state.messages.toArray().map(({ role, text: words }) => [role, words])).toStrictEqual([
      ['user', 'Go.'],
      ['assistant', '{"a":1}'],
    ]);
    expect([state.output, state.errors]).toStrictEqual([undefined, []]);
    expect(roundTrip(state).usage).toStrictEqual(state.usage);
  });

  test('by the deadline keeps them too', async () => {
    const { run } = setUp([says('{"a":1}')], { ...price, output: schemaThat(never), limits: { wallMs: 1000 } });
    const { state, ...result } = await run();
    expect([result.status, state.stopReason, interruptions(state)]).toStrictEqual(['stopped', 'time_limit', ['deadline']]);
    expect([result.usage.total, result.cost, result.text]).toStrictEqual([15, { usd: 1.5 }, '{"a":1}']);
  });
});

describe('a step that was whole when the run was cut off stays whole', () => {
  test.each(['finalize', 'stop'] as const)('a final answer whose check ends within the grace, onLimit %s', async (onLimit) => {
    const { run, model } = setUp(
      [
        async () => {
          await sleep(inTime.clock!, 900);
          return { text: '{"leadId":"7"}', usage };
        },
        says('A summary that nobody needs.'),
      ],
      (clock) => {
        inTime.clock = clock;
        const output = schemaThat((value) => sleep(clock, 120).then(() => ({ value })));
        return { output, limits: { wallMs: 1000, onLimit } };
      },
    );
    const result = await run();
    const { state } = result;
    expect([state.status, state.stopReason, interruptions(state)]).toStrictEqual(['completed', 'time_limit', [undefined]]);
    expect([state.output, state.usage.total, model.calls.length]).toStrictEqual([{ leadId: '7' }, 15, 1]);
    expect(result).toMatchObject({ status: 'completed', output: { leadId: '7' }, text: '{"leadId":"7"}' });
  });
  const inTime: { clock?: FakeClock } = {};

  const whole = { executions: [{ status: 'succeeded' }, { status: 'succeeded' }] };

  test('a tool step all of whose calls had ended, at an abort', async () => {
    const { run, host, model } = setUp([calls({ name: 'work' }, { name: 'work' }), says('Never.')], { tools: [work] });
    const { state } = await run('Go.', { onEvent: lastCallEnds(() => host.abort('enough')) });
    expect([state.status, state.stopReason, model.calls.length]).toStrictEqual(['stopped', 'user_requested', 1]);
    expect(state.steps).toMatchObject([whole]);
    expect(interruptions(state)).toStrictEqual([undefined]);
    expect(state.explain()).not.toContain('cut off');
  });

  test('a tool step all of whose calls had ended, at the deadline: what they gave is summed up', async () => {
    const { run, clock, model } = setUp([calls({ name: 'work' }, { name: 'work' }), says('In short.')], {
      tools: [work],
      limits: { wallMs: 1000, onLimit: 'finalize' },
    });
    const { state } = await run('Go.', { onEvent: lastCallEnds(() => clock.skip(1000)) });
    expect([state.status, state.stopReason, state.text, model.calls.length]).toStrictEqual(['stopped', 'time_limit', 'In short.', 2]);
    expect(state.steps[0]).toMatchObject(whole);
    expect(interruptions(state)).toStrictEqual([undefined, undefined]);
  });

  test('not so one of whose calls was cut off', async () => {
    const { run, host } = setUp([calls({ name: 'work' }, { name: 'hang' })], { tools: [work, hang] });
    const { state } = await run('Go.', { onEvent: ({ type }) => type === 'ToolCallCompleted' && host.abort('enough') });
    expect(state.steps).toMatchObject([{ interrupted: 'signal', executions: [{ status: 'succeeded' }, { status: 'unknown' }] }]);
  });

  function lastCallEnds(act: () => void): (event: ToolEvent) => void {
    let ended = 0;
    return ({ type }) => {
      if (type === 'ToolCallCompleted' && (ended += 1) === 2) act();
    };
  }
});

const ofType = <Type extends ToolEvent['type']>(events: readonly ToolEvent[], type: Type) =>
  events.filter((event): event is Extract<ToolEvent, { readonly type: Type }> => event.type === type);

describe('a person is asked', () => {
  const gatedAndSlow = calls({ id: 'gated', name: 'wipe' }, { id: 'slow', name: 'slow' });
  const withSlow = (clock: FakeClock) => ({ tools: [wipe, tool('slow', () => sleep(clock, 1000).then(() => 'late'))] });

  test('at once, although a call beside it still runs, and only once', async () => {
    const { begin, clock, events } = setUp([gatedAndSlow], withSlow);
    const running = begin();
    await clock.advance(10);
    expect(ofType(events, 'ToolApprovalRequested').map(({ toolCallId }) => toolCallId)).toStrictEqual(['gated']);
    expect(ofType(events, 'ToolCallCompleted')).toStrictEqual([]);
    const { state } = await whileTimePasses(clock, running.result);
    expect(state.waitingFor.map(({ id }) => id)).toStrictEqual(['gated']);
    expect(ofType(events, 'ToolApprovalRequested').length).toBe(1);
    expect(ofType(events, 'ToolCallCompleted').map(({ toolCallId }) => toolCallId)).toStrictEqual(['slow']);
  });

  test('not at all where stop was requested before', async () => {
    const answerWithCall = async (): Promise<{ readonly toolCalls: readonly ScriptedToolCall[] }> => {
      await sleep(world.clock, 10);
      running.requestStop('enough');
      return { toolCalls: [{ id: 'gated', name: 'wipe' }] };
    };
    const world = setUp([answerWithCall], withSlow);
    const running = world.begin();
    const { state } = await whileTimePasses(world.clock, running.result);
    expect([state.status, state.stopReason]).toStrictEqual(['stopped', 'user_requested']);
    expect(ofType(world.events, 'ToolApprovalRequested')).toStrictEqual([]);
    expect(ofType(world.events, 'ToolCallCompleted')).toMatchObject([{ toolCallId: 'gated', status: 'cancelled' }]);
  });
});

describe('every call that is closed is told by exactly one ToolCallCompleted', () => {
  type World = ReturnType<typeof setUp>;
  const client = defineClientTool({ name: 'ask', description: 'Asks the client.', input: anything, output: { type: 'string' } });
  const hangingAnswer = defineClientTool({ name: 'sign', description: 'Signs.', input: anything, output: schemaThat(never) });
  const two = calls({ id: 'a', name: 'wipe' }, { id: 'b', name: 'wipe' });
  const slowBeside = calls({ id: 'a', name: 'wipe' }, { id: 'b', name: 'ask' }, { id: 'c', name: 'hang' });

  const rows: readonly (readonly [name: string, script: readonly ScriptedEntry[], play: (world: World) => Promise<AgentState>])[] = [
    [
      'given up for a message',
      [two, says('Fine.')],
      async ({ run }) => (await run((await run()).state.withUserMessage('Never mind.'))).state,
    ],
    [
      'given up for a message, through storage',
      [two, says('Fine.')],
      async ({ run }) => (await run(roundTrip(roundTrip((await run()).state).withUserMessage('Never mind.')))).state,
    ],
    [
      'given up for a message when one was answered already',
      [two, says('Fine.')],
      async ({ run }) => (await run((await run()).state.reject('a', 'no').withUserMessage('Never mind.'))).state,
    ],
    [
      'given up for a message after one of them was carried out',
      [two, says('Fine.')],
      async ({ run }) => {
        const once = await run((await run()).state.approve('a').approve('b', { args: 'nonsense' }));
        expect(once.status).toBe('waiting');
        return (await run(once.state.withUserMessage('Never mind.'))).state;
      },
    ],
    [
      'cut off by the host while one beside them runs',
      [slowBeside],
      async ({ run, host, clock }) => {
        clock.schedule(500, () => host.abort('enough'));
        return (await run()).state;
      },
    ],
    [
      'ended by a request while one beside them runs',
      [calls({ id: 'a', name: 'wipe' }, { id: 'b', name: 'ask' }, { id: 'c', name: 'slow' })],
      async ({ begin, clock }) => {
        const running = begin();
        clock.schedule(500, () => running.requestStop('enough'));
        return (await whileTimePasses(clock, running.result)).state;
      },
    ],
    ['cut off by the deadline while one beside them runs', [slowBeside], async ({ run }) => (await run()).state],
    [
      'cut off before an answered step went on',
      [two],
      async ({ run, host }) => {
        const { state } = await run();
        host.abort('enough');
        return (await run(state.approve('a').reject('b', 'no'))).state;
      },
    ],
    [
      'cut off while an approved one runs',
      [calls({ id: 'a', name: 'gatedHang' }, { id: 'b', name: 'wipe' })],
      async ({ run, host, clock }) => {
        const { state } = await run();
        clock.schedule(500, () => host.abort('enough'));
        return (await run(state.approve('a').reject('b', 'no'))).state;
      },
    ],
    [
      'cut off while an answer is being checked by a schema that hangs',
      [calls({ id: 'a', name: 'wipe' }, { id: 'b', name: 'sign' })],
      async ({ run, host, clock }) => {
        const { state } = await run();
        clock.schedule(500, () => host.abort('enough'));
        return (await run(state.reject('a', 'no').answer('b', 'signed'))).state;
      },
    ],
  ];

  test.each(rows)('%s', async (_, script, play) => {
    const world = setUp(script, (clock) => ({
      tools: [
        ...[wipe, client, hang, hangingAnswer, tool('gatedHang', never, { needsApproval: true })],
        tool('slow', () => sleep(clock, 1000).then(() => 'late')),
      ],
      limits: { wallMs: 2000 },
    }));
    const end = await play(world);
    expectToldOnce(end, world.events);
  });

  test('one whose end nobody saw, where a person was to be asked and the host gave up before', async () => {
    const { run, host, clock, events } = setUp([calls({ id: 'a', name: 'work' }, { id: 'b', name: 'hang' })], {
      tools: [work, hang],
      onUnknown: 'ask',
    });
    clock.schedule(500, () => host.abort('enough'));
    const lost = { ok: false, kind: 'unknown', type: 'unknown', code: 'lost', message: 'Nobody knows.', retryable: false } as const;
    const { state } = await run('Go.', {
      effects: (direct) => ({
        ...direct,
        run: (key, toDo, options) => (key === 'tool/1/0' ? Promise.resolve(lost) : direct.run(key, toDo, options)),
      }),
    });
    expect(state.steps).toMatchObject([{ executions: [{ toolCallId: 'a' }, { toolCallId: 'b', status: 'unknown' }] }]);
    expectToldOnce(state, events);
  });

  test('and after a superseding message the run tells of one end only, its own, last', async () => {
    const { run, events, host } = setUp([two, says('Fine.')], { tools: [wipe] });
    const { state } = await run();
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: 'waiting' });
    events.length = 0;
    const end = await run(state.withUserMessage('Never mind.'), { signal: host.signal });
    expect(ofType(events, 'AgentFinished').length).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: 'completed', executionId: end.state.execution.id });
    expect(ofType(events, 'AgentStepCompleted').map(({ interrupted }) => interrupted)).toStrictEqual(['superseded', undefined]);
  });

  function expectToldOnce(end: AgentState, events: readonly ToolEvent[]): void {
    const recorded = end.session.executions.flatMap(({ results }) => results.toArray().flatMap(({ step }) => step.executions));
    const facts = (list: readonly Pick<ToolExecution, 'toolCallId' | 'status'>[]): readonly string[] =>
      list.map(({ toolCallId, status }) => `${toolCallId} ${status}`).sort();
    expect(end.pendingStep).toBeUndefined();
    expect(recorded.length).toBeGreaterThan(1);
    expect(facts(ofType(events, 'ToolCallCompleted'))).toStrictEqual(facts(recorded));
  }
});

describe('no listener is left on the signal of a host', () => {
  /** The listeners that stand on a signal. */
  function setUpWatched() {
    const host = new AbortController();
    const listeners = new Set<unknown>();
    let added = 0;
    const { signal } = host;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    vi.spyOn(signal, 'addEventListener').mockImplementation((...given: readonly unknown[]) => {
      listeners.add(given[1]);
      added += 1;
      add(...(given as Parameters<typeof add>));
    });
    vi.spyOn(signal, 'removeEventListener').mockImplementation((...given: readonly unknown[]) => {
      listeners.delete(given[1]);
      remove(...(given as Parameters<typeof remove>));
    });
    return { signal, left: () => listeners.size, added: () => added };
  }

  const agent = createAgent({
    model: scriptedModel([says('Hello.')], { repeatLast: true }),
    context: defineContext<{ readonly user: string }>(),
  });
  const state = AgentState.empty().withUserMessage('Go.');
  const context = { user: 'Ann' };
  const throwing = (): never => {
    throw new Error('No engine.');
  };
  const ways = {
    start: async (given: unknown, options: object) => agent.start(given as never, options as never).result,
    run: async (given: unknown, options: object) => agent.run(given as never, options as never),
    nextStep: async (given: unknown, options: object) => agent.nextStep(given as never, options as never),
    iterate: async (given: unknown, options: object) => {
      for await (const next of agent.iterate(given as never, options as never)) expect(next).toBeInstanceOf(AgentState);
    },
  } as const;

  describe.each(Object.keys(ways) as (keyof typeof ways)[])('after %s()', (way) => {
    test.each<[string, unknown, object, RegExp]>([
      ['a missing context', state, {}, /needs a context/],
      ['an unknown option', state, { context, abort: true }, /Unknown option "abort"/],
      ['a wrong state', { kind: 'agent-state' }, { context }, /a state of kind "agent-state"/],
      ['effects that throw', state, { context, effects: throwing }, /No engine/],
    ])('refused for %s', async (_, given, options, message) => {
      const { signal, left } = setUpWatched();
      await expect(ways[way](given, { ...options, signal })).rejects.toThrow(message);
      expect(left()).toBe(0);
    });

    test('that went well, although there was one', async () => {
      const { signal, left, added } = setUpWatched();
      await ways[way](state, { context, signal });
      expect([left(), added() > 0]).toStrictEqual([0, true]);
    });

    test('whose store failed', async () => {
      const { signal, left } = setUpWatched();
      await expect(ways[way](state, { context, signal, commit: throwing })).rejects.toThrow('No engine.');
      expect(left()).toBe(0);
    });
  });
});
