// Hooks that hang, hooks on a step that waits for somebody, and hooks on the step that sums up.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../../tests/support/test-scale.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { Hook } from './index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock, sleep } from '../lib/index.ts';
import type { ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent } from '../tool-use/index.ts';
import { defineHook } from '../tool-use/index.ts';
import type { Tools } from '../tools/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { AgentOptions } from '../agent/index.ts';
import { AgentState, createAgent } from '../agent/index.ts';

// The set-up

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedEntry => ({ toolCalls: names.map((name) => ({ name, args: { a: 1 } })), usage });
const anything = { type: 'object', properties: {} } as const;
const never = (): Promise<never> => new Promise(() => undefined);

const throws = (thrown: unknown) => (): never => {
  throw thrown;
};

/** Lets time pass until the work is done, and says when that was. */
async function whileTimePasses<Value>(clock: FakeClock, underWay: Promise<Value>): Promise<{ readonly ended: Value; readonly at: number }> {
  const seen: { at?: number } = {};
  const end = (): void => {
    seen.at = clock.monotonic();
  };
  underWay.then(end, end);
  await clock.advance(0);
  for (let turns = 0; turns < 60 && seen.at === undefined; turns += 1) await clock.advance(1000);
  if (seen.at === undefined) throw new Error('The run did not end within 60 s.');
  return { ended: await underWay, at: seen.at };
}

/** Record of a run. */
interface Told {
  readonly state: AgentState;
  readonly events: readonly ToolEvent[];
  readonly problems: readonly unknown[];
  readonly ran: readonly unknown[];
  readonly model: ScriptedModel;
  readonly clock: FakeClock;
  /** Time of its end. */
  readonly at: number;
}

interface Given extends Partial<Omit<AgentOptions, 'capabilities' | 'model' | 'hooks' | 'tools'>> {
  readonly hooks: readonly unknown[] | ((clock: FakeClock) => readonly unknown[]);
  readonly script?: readonly ScriptedEntry[];
  /** Time at which the host gives up. */
  readonly abortAt?: number;
}

function setUp({ hooks, script = [calls('work'), says('Done.')], abortAt, ...options }: Given) {
  const [clock, ids] = [createFakeClock(), createCountingIds('id')];
  const [problems, ran]: [unknown[], unknown[]] = [[], []];
  const model = scriptedModel(script, { repeatLast: true });
  const tool = (name: string, run: () => unknown, needsApproval = false) =>
    defineTool({ name, description: `Does ${name}.`, input: anything, needsApproval, run: (args) => (ran.push([name, args]), run()) });
  const tools = [
    tool('work', () => 'worked'),
    tool('break', throws(new Error('It broke.'))),
    tool('wipe', () => 'wiped', true),
    defineClientTool({ name: 'ask', description: 'Asks the client.', input: anything, output: { type: 'string' } }),
  ];
  const agent = createAgent<unknown, Tools>({
    model,
    tools,
    hooks: (typeof hooks === 'function' ? hooks(clock) : hooks) as readonly Hook<AgentState, unknown>[],
    ...options,
    ports: { clock, ids, random: () => 0.5, onProblem: (problem) => problems.push(problem) },
  });
  const start = AgentState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  const run = async (state: AgentState = start): Promise<Told> => {
    const events: ToolEvent[] = [];
    const host = new AbortController();
    const cancel = abortAt === undefined ? undefined : clock.schedule(abortAt, () => host.abort('enough'));
    const running = agent.start(state, { signal: host.signal, onEvent: (event) => events.push(event) });
    const { ended, at } = await whileTimePasses(clock, running.result);
    cancel?.();
    return { state: ended.state, events, problems, ran, model, clock, at };
  };
  return { agent, run, model, ran, problems, clock };
}

const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

const getFacts = (state: AgentState): object => ({
  status: state.status,
  stopReason: state.stopReason,
  explanation: state.explain(),
  waitingFor: state.waitingFor,
  steps: state.steps,
  messages: state.messages.toArray(),
  written: JSON.parse(JSON.stringify(state)) as unknown,
});

/** Checks what holds however a run ends: every call has its one result, the end is told last and once, and the state can be stored. */
function expectDefined({ state, events, clock }: Told): void {
  const made = state.messages.toArray().flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const answered = state.messages.toArray().flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
  expect([...answered].sort()).toStrictEqual([...made].sort());
  expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: state.status, stepCount: state.stepCount });
  expect(events.filter(({ type }) => type === 'AgentFinished')).toHaveLength(1);
  expect(getFacts(roundTrip(state))).toStrictEqual(getFacts(state));
  expect(clock.pendingTimers()).toBe(0);
}

const hookFailures = ({ steps }: AgentState): readonly string[] =>
  steps.flatMap(({ errors }) => errors.filter(({ code }) => code === 'hook-failed').map(({ message }) => message));

type Expected = readonly [status: string, stopReason: string | undefined, steps: number, asked: number, ran: number];
const getEnd = ({ state, model, ran }: Told): Expected => [state.status, state.stopReason, state.stepCount, model.calls.length, ran.length];

type Handler = (facts: never) => unknown;
interface Declared {
  readonly changes?: readonly string[];
  readonly [more: string]: unknown;
}
const hookAt = (point: string, handler: Handler, more: Declared = {}): unknown =>
  defineHook({ name: 'culprit', changes: ['metadata', 'votes'], [point]: handler, ...more } as never);

const policies = [
  ['the working policy of createAgent', {}],
  ['a careful policy', { errors: ErrorPolicy.stopOnAnyError() }],
] as const;

/** A point before the judgement: how far a step has come when a hook hangs there, and whether it counts as cut off. */
const before = [
  { point: 'executionStart', at: 'execution_start', tool: 'work', reached: [0, 0, 0], isCutOff: false },
  { point: 'beforeStep', at: 'before_step', tool: 'work', reached: [1, 0, 0], isCutOff: true },
  { point: 'beforeInference', at: 'before_inference', tool: 'work', reached: [1, 0, 0], isCutOff: true },
  { point: 'afterInference', at: 'after_inference', tool: 'work', reached: [1, 1, 0], isCutOff: true },
  { point: 'beforeTool', at: 'before_tool', tool: 'work', reached: [1, 1, 0], isCutOff: true },
  // All that the step itself had to do was done.
  { point: 'afterTool', at: 'after_tool', tool: 'work', reached: [1, 1, 1], isCutOff: false },
  { point: 'afterStep', at: 'after_step', tool: 'work', reached: [1, 1, 1], isCutOff: false },
  { point: 'onError', at: 'on_error', tool: 'break', reached: [1, 1, 1], isCutOff: false },
] as const;

const after = [
  { point: 'afterStep', tool: 'work' },
  { point: 'onError', tool: 'break' },
  { point: 'executionEnd', tool: 'work' },
] as const;

interface Signalled {
  readonly signal: AbortSignal;
}
const untilAborted = ({ signal }: Signalled): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** Ways to hang until the run is over, whatever then becomes of it. */
const deafness: readonly (readonly [kind: string, handler: (facts: Signalled) => unknown])[] = [
  ['never ends', never],
  ['ends with the signal', untilAborted],
  ['throws with the signal', (facts) => untilAborted(facts).then(throws(new Error('Cut off.')))],
  ['wants a change when the signal comes', (facts) => untilAborted(facts).then(() => ({ metadata: { late: true } }))],
];

describe.each(pickSubjects(policies))('under %s a hook that hangs', (_, options) => {
  test.each(before)('in $point is given up after its time, by name', async ({ point, at, tool, reached }) => {
    const { run } = setUp({ hooks: [hookAt(point, never, { timeoutMs: 1000 })], script: [calls(tool), says('Done.')], ...options });
    const told = await run();
    const words = `Hook "culprit" failed at ${at}: it took longer than 1000 ms.`;
    expect(getEnd(told)).toStrictEqual(['failed', 'error', ...reached]);
    expect(told.state.explain()).toContain(words.replace(/\.$/, ''));
    expect(hookFailures(told.state)).toStrictEqual(reached[0] === 0 ? [] : [words]);
    expect([told.at, told.problems]).toStrictEqual([1000, []]);
    expectDefined(told);
  });

  const cells = before.flatMap((cell) => deafness.map(([kind, handler]) => [cell.point, kind, handler, cell] as const));

  test.each(cells)('in %s and %s is left at once when the host gives up', async (point, _kind, handler, cell) => {
    const script = [calls(cell.tool), says('Done.')];
    const { run } = setUp({ hooks: [hookAt(point, handler)], script, abortAt: 500, ...options });
    const told = await run();
    expect(getEnd(told)).toStrictEqual(['stopped', 'user_requested', ...cell.reached]);
    expect(told.at).toBeGreaterThanOrEqual(500);
    expect(told.at).toBeLessThanOrEqual(600);
    expect(told.state.explain()).toContain('enough');
    // Who is cut off has not failed.
    expect([hookFailures(told.state), told.problems]).toStrictEqual([[], []]);
    expect(told.events.filter(({ type }) => type === 'HookReported')).toMatchObject([
      { hook: 'culprit', message: 'it was still at work when the run was cut off' },
    ]);
    expect(told.state.currentStep?.interrupted).toBe(cell.isCutOff ? 'signal' : undefined);
    expect(told.state.metadata).toStrictEqual({});
    expectDefined(told);
  });

  test.each(cells)('in %s and %s is left when the time of the run is over', async (point, _kind, handler, cell) => {
    const hooks = [hookAt(point, handler, { timeoutMs: Infinity })];
    const { run } = setUp({ hooks, script: [calls(cell.tool), says('Done.')], limits: { wallMs: 1000 }, ...options });
    const told = await run();
    // Where a failure ends the run anyway, that comes before the time.
    const isOver = point === 'onError' && 'errors' in options;
    expect(getEnd(told)).toStrictEqual([...(isOver ? ['failed', 'error'] : ['stopped', 'time_limit']), ...cell.reached]);
    expect(told.at).toBeGreaterThanOrEqual(1000);
    expect(told.at).toBeLessThanOrEqual(1100);
    expect([hookFailures(told.state), told.problems]).toStrictEqual([[], []]);
    expect(told.state.currentStep?.interrupted).toBe(cell.isCutOff ? 'deadline' : undefined);
    expect(told.state.metadata).toStrictEqual({});
    expectDefined(told);
  });

  test.each(after)('in $point and only looks on holds nobody up', async ({ point, tool }) => {
    const script = [calls(tool), says('Done.')];
    const { run } = setUp({ hooks: [defineHook({ name: 'culprit', timeoutMs: 10, [point]: never })], script, ...options });
    const told = await run();
    expect(getEnd(told)).toStrictEqual(getEnd(await setUp({ hooks: [], script, ...options }).run()));
    expect([told.at, told.problems]).toStrictEqual([0, []]);
    expectDefined(told);
  });

  test.each(before)('in $point and comes back after the run is over changes nothing and tells nothing', async ({ point, tool }) => {
    const back: string[] = [];
    interface Facts {
      readonly clock: FakeClock;
      readonly report: (message: string) => void;
    }
    const late = async ({ clock, report }: Facts): Promise<object> => {
      await sleep(clock, 5000);
      report('Here I am.');
      back.push(point);
      return { metadata: { late: true }, votes: { decision: 'forbid', reason: 'too late' } };
    };
    const { run, clock } = setUp({ hooks: [hookAt(point, late)], script: [calls(tool)], abortAt: 500, ...options });
    const told = await run();
    const [written, count] = [JSON.stringify(told.state), told.events.length];
    await clock.advance(10_000);
    expect(back).toStrictEqual([point]);
    expect([JSON.stringify(told.state), told.events.length, told.problems]).toStrictEqual([written, count, []]);
  });

  test.each(before)('in $point and comes back after its own time changes nothing', async ({ point, at, tool }) => {
    const late = async ({ clock }: { readonly clock: FakeClock }): Promise<object> => {
      await sleep(clock, 1500);
      return { metadata: { late: true } };
    };
    const hooks = [hookAt(point, late, { timeoutMs: 1000 })];
    const { run, clock } = setUp({ hooks, script: [calls(tool)], ...options });
    const told = await run();
    await clock.advance(10_000);
    expect(told.state.explain()).toContain(`Hook "culprit" failed at ${at}: it took longer than 1000 ms`);
    expect(told.state.metadata).toStrictEqual({});
    expectDefined(told);
  });
});

test('a hook that says nothing about its time has 30 seconds', async () => {
  const told = await setUp({ hooks: [hookAt('beforeStep', never)] }).run();
  expect([told.state.status, told.at]).toStrictEqual(['failed', 30_000]);
  expect(told.state.explain()).toContain('it took longer than 30000 ms');
});

describe('a hook on a step that waits for somebody', () => {
  interface CallFacts {
    readonly approved: boolean;
    readonly call: { readonly args: object; readonly name: string };
  }
  const script = [calls('wipe'), says('Done.')];
  /** Fails, blocks, hangs or what it likes, once the call was approved. */
  const onceApproved = (act: (facts: CallFacts) => unknown, changes: readonly string[] = ['metadata']): unknown =>
    hookAt('beforeTool', (facts: CallFacts) => (facts.approved ? act(facts) : undefined), { changes });

  /** A run up to the question, as it is after a night in a store. */
  async function park(given: Given) {
    const world = setUp({ script, ...given });
    const told = await world.run();
    expect([told.state.status, told.ran, told.state.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', [], ['call-1']]);
    return { ...world, told, waiting: roundTrip(told.state) };
  }

  test('is asked before anybody is asked and again after the approval; what began the step is not begun again', async () => {
    const seen: unknown[] = [];
    const note = ({ point, approved }: { readonly point: string; readonly approved?: boolean }) =>
      void seen.push(approved === undefined ? point : [point, approved]);
    const everywhere = { executionStart: note, beforeStep: note, beforeInference: note, afterInference: note };
    const more = { beforeTool: note, afterTool: note, afterStep: note, executionEnd: note };
    const hook = defineHook({ name: 'everywhere', changes: ['metadata'], ...everywhere, ...more } as never);
    const { run, waiting } = await park({ hooks: [hook] });
    const begun = ['execution_start', 'before_step', 'before_inference', 'after_inference', ['before_tool', false]];
    expect(seen).toStrictEqual(begun);
    const told = await run(waiting.approve('call-1'));
    const goneOn = [['before_tool', true], 'after_tool', 'after_step'];
    const last = ['before_step', 'before_inference', 'after_inference', 'after_step', 'execution_end'];
    expect(seen).toStrictEqual([...begun, ...goneOn, ...last]);
    expect(getEnd(told)).toStrictEqual(['completed', 'completed', 2, 2, 1]);
    expectDefined(told);
  });

  test('that fails before anybody is asked fails the call, and nobody is asked', async () => {
    const told = await setUp({ hooks: [hookAt('beforeTool', throws(new Error('Bad luck.')))], script }).run();
    expect(getEnd(told)).toStrictEqual(['failed', 'error', 1, 1, 0]);
    expect([told.state.waitingFor, hookFailures(told.state)]).toStrictEqual([[], ['Hook "culprit" failed at before_tool: Bad luck.']]);
    expect(told.events.filter(({ type }) => type === 'ToolApprovalRequested')).toStrictEqual([]);
    expectDefined(told);
  });

  test.each(pickSubjects(policies))('that fails after the approval fails the call, under %s', async (_, options) => {
    const { run, waiting } = await park({ hooks: [onceApproved(throws(new Error('Bad luck.')))], ...options });
    const told = await run(waiting.approve('call-1'));
    expect(getEnd(told)).toStrictEqual(['failed', 'error', 1, 1, 0]);
    expect(told.state.explain()).toContain('Hook "culprit" failed at before_tool: Bad luck');
    expectDefined(told);
  });

  test('that blocks after the approval keeps the call from being made, and the model reads why', async () => {
    const { run, waiting } = await park({ hooks: [onceApproved(() => ({ block: 'not at night' }), ['block'])] });
    const told = await run(waiting.approve('call-1'));
    expect(getEnd(told)).toStrictEqual(['completed', 'completed', 2, 2, 0]);
    expect(told.model.calls[1]?.messages.at(-1)?.toolResults[0]?.output).toMatchObject({ type: 'error' });
    expect(JSON.stringify(told.model.calls[1]?.messages.at(-1))).toContain('not at night');
    expectDefined(told);
  });

  test('that changes arguments before anybody is asked shows the person what would run', async () => {
    const hook = hookAt('beforeTool', () => ({ args: { a: 2 } }), { changes: ['args'] });
    const { run, waiting } = await park({ hooks: [hook] });
    expect(waiting.waitingFor[0]).toMatchObject({ args: { a: 2 } });
    const told = await run(waiting.approve('call-1'));
    expect([told.state.status, told.ran]).toStrictEqual(['completed', [['wipe', { a: 2 }]]]);
    expectDefined(told);
  });

  test('that changes arguments after the approval makes the call wait again, and says why', async () => {
    const { run, waiting } = await park({ hooks: [onceApproved(() => ({ args: { a: 9 } }), ['args'])] });
    const again = await run(waiting.approve('call-1'));
    const problem = 'a hook changed the arguments after they had been approved';
    expect([again.state.status, again.ran]).toStrictEqual(['waiting', []]);
    expect(again.state.waitingFor).toMatchObject([{ id: 'call-1', type: 'approval', args: { a: 9 }, problem }]);
    expect(again.state.explain()).toContain(problem);
    expectDefined({ ...again, state: again.state });
    // Whoever approves what the hook wants gets just that.
    const told = await run(roundTrip(again.state).approve('call-1'));
    expect([getEnd(told), told.ran]).toStrictEqual([['completed', 'completed', 2, 2, 1], [['wipe', { a: 9 }]]]);
    expectDefined(told);
  });

  test('that changes arguments each time never gets them run', async () => {
    const seen = { count: 0 };
    const { run, waiting } = await park({ hooks: [onceApproved(() => ({ args: { a: (seen.count += 1) + 1 } }), ['args'])] });
    let state = waiting;
    for (const turn of [2, 3, 4]) {
      const told = await run(state.approve('call-1'));
      expect([told.state.status, told.ran, told.state.waitingFor]).toMatchObject(['waiting', [], [{ args: { a: turn } }]]);
      expectDefined(told);
      state = roundTrip(told.state);
    }
    const told = await run(state.reject('call-1', 'enough of this'));
    expect(getEnd(told)).toStrictEqual(['completed', 'completed', 2, 2, 0]);
    expectDefined(told);
  });

  test('that fails on the result of another call is heard when the step ends', async () => {
    const look = ({ call }: CallFacts): void => {
      if (call.name === 'work') throw new Error('Bad luck.');
    };
    const world = setUp({ hooks: [hookAt('afterTool', look)], script: [calls('work', 'wipe'), says('Done.')] });
    const first = await world.run();
    expect([first.state.status, first.ran.length]).toStrictEqual(['waiting', 1]);
    const told = await world.run(roundTrip(first.state).approve('call-2'));
    expect(getEnd(told)).toStrictEqual(['failed', 'error', 1, 1, 2]);
    expect(hookFailures(told.state)).toStrictEqual(['Hook "culprit" failed at after_tool: Bad luck.']);
    expectDefined(told);
  });

  test('is not asked about the result of a call that was rejected', async () => {
    const seen: unknown[] = [];
    const { run, waiting } = await park({ hooks: [hookAt('afterTool', (facts) => void seen.push(facts))] });
    const told = await run(waiting.reject('call-1', 'no'));
    expect([seen, getEnd(told)]).toStrictEqual([[], ['completed', 'completed', 2, 2, 0]]);
    expectDefined(told);
  });

  test.each([
    ['the host gives up', { abortAt: 500 }, 'user_requested', 'signal'],
    ['the time of the run is over', { limits: { wallMs: 1000 } }, 'time_limit', 'deadline'],
  ] as const)('that hangs after the approval is left when %s, and the call was not made', async (_, given, stopReason, interrupted) => {
    const { run, waiting } = await park({ hooks: [onceApproved(never)], ...given });
    const told = await run(waiting.approve('call-1'));
    expect(getEnd(told)).toStrictEqual(['stopped', stopReason, 1, 1, 0]);
    expect(told.state.currentStep?.interrupted).toBe(interrupted);
    expect(told.state.steps[0]?.executions.map(({ status }) => status)).toStrictEqual(['cancelled']);
    expectDefined(told);
  });
});

describe('a hook on the answer of a client tool', () => {
  const script = [calls('ask'), says('Done.')];
  const answerAndRun = async (given: Given): Promise<Told> => {
    const { run } = setUp({ script, ...given });
    const { state } = await run();
    expect(state.waitingFor).toMatchObject([{ type: 'client-tool', id: 'call-1' }]);
    return run(roundTrip(state).answer('call-1', 'blue'));
  };

  test('sees it as the result of the call', async () => {
    const seen: unknown[] = [];
    const look = ({ execution }: { readonly execution: { readonly value?: unknown } }) => void seen.push(execution.value);
    const told = await answerAndRun({ hooks: [hookAt('afterTool', look)] });
    expect([seen, getEnd(told)]).toStrictEqual([['blue'], ['completed', 'completed', 2, 2, 0]]);
    expectDefined(told);
  });

  test.each(pickSubjects(policies))('that fails fails the step, and the answer is kept, under %s', async (_, options) => {
    const told = await answerAndRun({ hooks: [hookAt('afterTool', throws(new Error('Bad luck.')))], ...options });
    expect(getEnd(told)).toStrictEqual(['failed', 'error', 1, 1, 0]);
    expect(hookFailures(told.state)).toStrictEqual(['Hook "culprit" failed at after_tool: Bad luck.']);
    expect(told.state.steps[0]?.executions).toMatchObject([{ status: 'succeeded', value: 'blue' }]);
    expectDefined(told);
  });

  test('that withholds it keeps it from the model', async () => {
    const told = await answerAndRun({ hooks: [hookAt('afterTool', () => ({ block: 'too personal' }), { changes: ['block'] })] });
    expect(getEnd(told)).toStrictEqual(['completed', 'completed', 2, 2, 0]);
    expect(JSON.stringify(told.model.calls[1]?.messages)).not.toContain('blue');
    expect(JSON.stringify(told.model.calls[1]?.messages)).toContain('too personal');
    expectDefined(told);
  });

  test.each([
    ['the host gives up', { abortAt: 500 }, 'user_requested'],
    ['the time of the run is over', { limits: { wallMs: 1000 } }, 'time_limit'],
  ] as const)('that hangs is left when %s, and the answer is kept', async (_, given, stopReason) => {
    const told = await answerAndRun({ hooks: [hookAt('afterTool', never)], ...given });
    expect(getEnd(told)).toStrictEqual(['stopped', stopReason, 1, 1, 0]);
    expect(told.state.steps[0]?.executions).toMatchObject([{ status: 'succeeded', value: 'blue' }]);
    expectDefined(told);
  });
});

describe('a hook on the step that sums up', () => {
  interface StepFacts {
    readonly stepNumber: number;
  }
  const limits = { steps: 1, onLimit: 'finalize', finalizeMs: 2000 } as const;
  const script = [calls('work'), says('In short.')];
  const inLast = (point: string, act: () => unknown, more: Declared = {}): unknown =>
    hookAt(point, ({ stepNumber }: StepFacts) => (stepNumber === 2 ? act() : undefined), more);
  const points = [
    ['beforeStep', 'before_step', 1],
    ['beforeInference', 'before_inference', 1],
    ['afterInference', 'after_inference', 2],
    ['afterStep', 'after_step', 2],
  ] as const;

  test('is asked as on any other, but about no tool', async () => {
    const seen: unknown[] = [];
    const note = ({ point, stepNumber }: StepFacts & { readonly point: string }): void => {
      if (stepNumber === 2) seen.push(point);
    };
    const first = { beforeStep: note, beforeInference: note, afterInference: note, beforeTool: note };
    const hook = defineHook({ name: 'everywhere', changes: ['metadata'], ...first, afterTool: note, afterStep: note } as never);
    const told = await setUp({
      hooks: [hook],
      script: [calls('work'), { text: 'So far.', toolCalls: [{ name: 'work', args: {} }] }],
      limits,
    }).run();
    expect(seen).toStrictEqual(['before_step', 'before_inference', 'after_inference', 'after_step']);
    expect(getEnd(told)).toStrictEqual(['stopped', 'steps_limit', 2, 2, 1]);
    expectDefined(told);
  });

  describe.each(pickSubjects(policies))('under %s', (_, options) => {
    test.each(points)('that fails in %s ends the run, and both the limit and the hook are named', async (point, at, asked) => {
      const told = await setUp({ hooks: [inLast(point, throws(new Error('Bad luck.')))], script, limits, ...options }).run();
      expect(getEnd(told)).toStrictEqual(['failed', 'error', 2, asked, 1]);
      expect(hookFailures(told.state)).toStrictEqual([`Hook "culprit" failed at ${at}: Bad luck.`]);
      expect(told.state.explain()).toContain(`Hook "culprit" failed at ${at}: Bad luck`);
      expect(told.state.explain()).toContain('StepsLimit');
      expectDefined(told);
    });

    test.each(points)('that hangs in %s is left when the time to sum up is over', async (point, _at, asked) => {
      const told = await setUp({ hooks: [inLast(point, never, { timeoutMs: Infinity })], script, limits, ...options }).run();
      expect(getEnd(told)).toStrictEqual(['stopped', 'steps_limit', 2, asked, 1]);
      expect(told.at).toBeGreaterThanOrEqual(2000);
      expect(told.at).toBeLessThanOrEqual(2100);
      expect(hookFailures(told.state)).toStrictEqual([]);
      expectDefined(told);
    });
  });
});
