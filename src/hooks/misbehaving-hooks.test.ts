// A hook that misbehaves ends in a state that is defined and explained, at each of its points and whatever it does.
import { describe, expect, test, vi } from 'vitest';
import { pickSubjects } from '../../tests/support/test-scale.ts';
import { ErrorPolicy, RateLimitedError } from '../errors/index.ts';
import type { Hook } from './index.ts';
import { defineAnyHook } from './index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../lib/index.ts';
import { Message, Messages } from '../messages/index.ts';
import type { ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent, ToolUseStep } from '../tool-use/index.ts';
import { defineCapability, defineHook } from '../tool-use/index.ts';
import type { Tools } from '../tools/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { RunResult } from '../step-by-step/index.ts';
import type { AgentOptions } from '../agent/index.ts';
import { AgentState, createAgent } from '../agent/index.ts';

// The set-up

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedEntry => ({
  toolCalls: names.map((name) => ({ name, args: { a: { b: 1 } } })),
  usage,
});
const anything = { type: 'object', properties: {} } as const;

const throws = (thrown: unknown) => (): never => {
  throw thrown;
};

/** Lets time pass until the work is done. */
async function whileTimePasses<Value>(clock: FakeClock, underWay: Promise<Value>): Promise<Value> {
  const seen = { over: false };
  const end = (): void => {
    seen.over = true;
  };
  underWay.then(end, end);
  await clock.advance(0);
  for (let turns = 0; turns < 1000 && !seen.over; turns += 1) await clock.advance(50);
  if (!seen.over) throw new Error('The run did not end within 50 s.');
  return underWay;
}

/** Record of a run. */
interface Told {
  readonly result: RunResult<AgentState>;
  readonly state: AgentState;
  readonly events: readonly ToolEvent[];
  readonly problems: readonly unknown[];
  readonly ran: readonly unknown[];
  readonly model: ScriptedModel;
  readonly clock: FakeClock;
}

interface Given extends Partial<Omit<AgentOptions, 'capabilities' | 'model' | 'hooks' | 'tools'>> {
  readonly hooks: readonly unknown[];
  readonly script?: readonly ScriptedEntry[];
}

function setUp({ hooks, script = [calls('work'), says('Done.')], ...options }: Given) {
  const [clock, ids] = [createFakeClock(), createCountingIds('id')];
  const [problems, ran]: [unknown[], unknown[]] = [[], []];
  const model = scriptedModel(script, { repeatLast: true });
  const tool = (name: string, run: () => unknown, needsApproval = false) =>
    defineTool({ name, description: `Does ${name}.`, input: anything, needsApproval, run: (args) => (ran.push([name, args]), run()) });
  const tools = [
    tool('work', () => ({ done: { deep: 1 } })),
    tool('break', throws(new Error('It broke.'))),
    tool('wipe', () => 'wiped', true),
    defineClientTool({ name: 'ask', description: 'Asks the client.', input: anything, output: { type: 'string' } }),
  ];
  const agent = createAgent<unknown, Tools>({
    model,
    tools,
    hooks: hooks as readonly Hook<AgentState, unknown>[],
    ...options,
    ports: { clock, ids, random: () => 0.5, onProblem: (problem) => problems.push(problem) },
  });
  const start = AgentState.empty({ clock, ids, metadata: { plan: { a: 1 } } }).withUserMessage('Go.', { ids });
  const run = async (state: AgentState = start): Promise<Told> => {
    const events: ToolEvent[] = [];
    const result = await whileTimePasses(clock, agent.start(state, { onEvent: (event) => events.push(event) }).result);
    return { result, state: result.state, events, problems, ran, model, clock };
  };
  return { agent, run, model, ran, problems, start };
}

const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));

const getFacts = (state: AgentState): object => ({
  status: state.status,
  stopReason: state.stopReason,
  explanation: state.explain(),
  steps: state.steps,
  messages: state.messages.toArray(),
  metadata: state.metadata,
  written: JSON.parse(JSON.stringify(state)) as unknown,
});

/** Checks what holds however a run ends: every call has its one result, the end is told last and once, and the state can be stored. */
function expectDefined({ state, events, clock, result }: Told): void {
  const made = state.messages.toArray().flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
  const answered = state.messages.toArray().flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
  expect([...answered].sort()).toStrictEqual([...made].sort());
  expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status: state.status, stepCount: state.stepCount });
  expect(events.filter(({ type }) => type === 'AgentFinished')).toHaveLength(1);
  expect(getFacts(roundTrip(state))).toStrictEqual(getFacts(state));
  expect(result.status).toBe(state.status);
  expect(clock.pendingTimers()).toBe(0);
}

const hookFailures = ({ steps }: AgentState): readonly string[] =>
  steps.flatMap(({ errors }) => errors.filter(({ code }) => code === 'hook-failed').map(({ message }) => message));

type Expected = readonly [status: string, stopReason: string | undefined, steps: number, asked: number, ran: number];
const getEnd = ({ state, model, ran }: Told): Expected => [state.status, state.stopReason, state.stepCount, model.calls.length, ran.length];

// The points

const policies = [
  ['the working policy of createAgent', {}],
  ['a careful policy', { errors: ErrorPolicy.stopOnAnyError() }],
] as const;

/** A point before the judgement: how far a step has come when a hook fails there. */
interface Point {
  readonly point: string;
  readonly at: string;
  /** Tool that the model calls in the first step: `onError` needs one that fails. */
  readonly tool: string;
  readonly reached: readonly [steps: number, asked: number, ran: number];
}

const before: readonly Point[] = [
  { point: 'executionStart', at: 'execution_start', tool: 'work', reached: [0, 0, 0] },
  { point: 'beforeStep', at: 'before_step', tool: 'work', reached: [1, 0, 0] },
  { point: 'beforeInference', at: 'before_inference', tool: 'work', reached: [1, 0, 0] },
  { point: 'afterInference', at: 'after_inference', tool: 'work', reached: [1, 1, 0] },
  { point: 'beforeTool', at: 'before_tool', tool: 'work', reached: [1, 1, 0] },
  { point: 'afterTool', at: 'after_tool', tool: 'work', reached: [1, 1, 1] },
  { point: 'afterStep', at: 'after_step', tool: 'work', reached: [1, 1, 1] },
  { point: 'onError', at: 'on_error', tool: 'break', reached: [1, 1, 1] },
];
const findPoint = (name: string): Point => before.find(({ point }) => point === name)!;

/** A point after the judgement, for hooks that declare no change that is possible there. */
const after = [
  { point: 'afterStep', at: 'after_step', tool: 'work' },
  { point: 'onError', at: 'on_error', tool: 'break' },
  { point: 'executionEnd', at: 'execution_end', tool: 'work' },
] as const;

type Handler = (facts: never) => unknown;
interface Declared {
  readonly changes?: readonly string[];
  readonly name?: string;
  readonly [more: string]: unknown;
}
const hookAt = (point: string, handler: Handler, more: Declared = {}): unknown =>
  defineHook({ name: 'culprit', changes: ['metadata', 'votes'], [point]: handler, ...more } as never);
const observerAt = (point: string, handler: Handler, name = 'culprit'): unknown => defineHook({ name, [point]: handler });

/** The run has failed at this point because of this hook, and says so. */
function expectFailedAt(told: Told, { at, reached }: Point, problem: string): void {
  const { state, result } = told;
  const words = `Hook "culprit" failed at ${at}: ${problem}`;
  expect(getEnd(told)).toStrictEqual(['failed', 'error', ...reached]);
  expect(state.explain()).toContain(words.replace(/\.$/, ''));
  expect(state.explain({ brief: true })).toContain(words.replace(/\.$/, ''));
  // A start that failed has no step to keep its failure on.
  expect(hookFailures(state).every((message) => message.startsWith(words))).toBe(true);
  expect(hookFailures(state)).toHaveLength(reached[0]);
  if (result.status === 'failed' && at !== 'on_error') expect(result.error.message).toContain(words);
  // What a hook threw of itself is reported with its stack; what was refused stands on the record alone.
  for (const reported of told.problems) expect(reported).toMatchObject({ code: 'hook-failed', hook: 'culprit' });
  expectDefined(told);
}

/** The run went on as if the hook were not there, and somebody was told. */
function expectReported(told: Told, at: string, problem: string): void {
  expect(told.problems).not.toHaveLength(0);
  for (const reported of told.problems) expect(reported).toMatchObject({ code: 'hook-failed', hook: 'culprit' });
  const words = told.problems.map((reported) => (reported as Error).message);
  expect(words.every((text) => text.startsWith(`Hook "culprit" failed at ${at}: ${problem}`))).toBe(true);
  expectDefined(told);
}

const unreadable = (key: string): object => Object.defineProperty({}, key, { enumerable: true, get: throws(new Error('Bad luck.')) });

const kinds: readonly (readonly [kind: string, handler: () => unknown, problem: string])[] = [
  ['throws an Error', throws(new Error('Bad luck.')), 'Bad luck.'],
  ['throws a text', throws('oops'), 'oops'],
  ['throws undefined', throws(undefined), 'undefined'],
  ['throws null', throws(null), 'null'],
  ['throws what throws when it is read', throws(new Proxy({}, { get: throws(new Error('Unreadable.')) })), ''],
  ['rejects with an Error', () => Promise.reject(new Error('Bad luck.')), 'Bad luck.'],
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whoever has no linter may do that
  ['rejects with undefined', () => Promise.reject(undefined), 'undefined'],
  ['gives back a thenable that throws', () => ({ then: throws(new Error('Bad luck.')) }), 'Bad luck.'],
  ['gives back what throws when it is asked for its then', () => unreadable('then'), 'Bad luck.'],
];

const nothings: readonly (readonly [kind: string, given: unknown, problem: string])[] = [
  ['5', 5, 'it returned 5. Return nothing'],
  ['a text', 'x', 'it returned "x". Return nothing'],
  ['a list', [], 'it returned []. Return nothing'],
  ['null', null, 'it returned null. Return nothing'],
  ['a function', () => 1, 'it returned function. Return nothing'],
  ['changes that throw when they are read', unreadable('metadata'), ''],
];

const forbid = { decision: 'forbid', reason: 'enough' };
const votes: readonly (readonly [kind: string, votes: unknown])[] = [
  ['maybe', { decision: 'maybe', reason: 'who knows' }],
  ['with a boolean', true],
  ['with null', null],
  ['with a promise of a vote', Promise.resolve(forbid)],
  ['without a reason', { decision: 'forbid' }],
  ['for a reason that there is not', { ...forbid, stopReason: 'because' }],
  ['with a Map in its context', { ...forbid, context: { counts: new Map([['a', 1]]) } }],
  ['with a Map as its context', { ...forbid, context: new Map([['a', 1]]) }],
  ['with a text as its context', { ...forbid, context: 'three of four' }],
  ['twice, the second time nonsense', [{ decision: 'allow', reason: 'fine' }, 'maybe']],
];

const metadata: readonly (readonly [kind: string, metadata: unknown, problem: string])[] = [
  ['a Map', new Map(), 'its metadata cannot be stored: it is a Map'],
  ['a Map deep inside', { a: { b: new Map() } }, 'its metadata cannot be stored: a.b is a Map'],
  ['a promise', Promise.resolve({}), 'its metadata cannot be stored: it is a promise'],
  ['5', 5, 'its metadata must be an object.'],
  ['null', null, 'its metadata must be an object.'],
];

/** Something that can be changed, but not at this point. */
const elsewhere = (point: string): readonly [change: string, where: string] =>
  point === 'beforeTool' || point === 'afterTool' ? ['messages', 'beforeInference'] : ['args', 'beforeTool'];

const across = <Row extends readonly unknown[]>(rows: readonly Row[]): readonly (readonly [string, ...Row, Point])[] =>
  before.flatMap((point) => rows.map((row) => [point.point, ...row, point] as const));

describe.each(pickSubjects(policies))('under %s a hook', (_, options) => {
  describe('that fails before the judgement ends the run by name', () => {
    test.each(across(kinds))('in %s: %s', async (point, _kind, handler, problem, cell) => {
      const { run } = setUp({ hooks: [hookAt(point, handler)], script: [calls(cell.tool), says('Done.')], ...options });
      expectFailedAt(await run(), cell, problem);
    });

    test.each(across(nothings))('in %s, because it gives back %s', async (point, _kind, given, problem, cell) => {
      const { run } = setUp({ hooks: [hookAt(point, () => given)], script: [calls(cell.tool), says('Done.')], ...options });
      expectFailedAt(await run(), cell, problem);
    });

    test.each(across(votes))('in %s, because it votes %s', async (point, _kind, given, cell) => {
      const hook = hookAt(point, async () => ({ votes: given }), { changes: ['votes'] });
      const { run } = setUp({ hooks: [hook], script: [calls(cell.tool), says('Done.')], ...options });
      expectFailedAt(await run(), cell, 'it voted ');
    });

    test.each(across(metadata))('in %s, because its metadata is %s', async (point, _kind, given, problem, cell) => {
      const hook = hookAt(point, () => ({ metadata: given }), { changes: ['metadata'] });
      const { run } = setUp({ hooks: [hook], script: [calls(cell.tool), says('Done.')], ...options });
      const told = await run();
      expectFailedAt(told, cell, problem);
      expect(told.state.metadata).toStrictEqual({ plan: { a: 1 } });
    });

    test.each(before)('in $point, because it has not declared what it changes', async (cell) => {
      const hook = hookAt(cell.point, () => ({ metadata: { a: 1 } }), { changes: ['votes'] });
      const { run } = setUp({ hooks: [hook], script: [calls(cell.tool), says('Done.')], ...options });
      const told = await run();
      expectFailedAt(told, cell, 'it changed "metadata" without declaring it. Add "metadata" to its changes.');
      expect(told.state.metadata).toStrictEqual({ plan: { a: 1 } });
    });

    test.each(before)('in $point, because what it changes cannot be changed there', async (cell) => {
      const [change, where] = elsewhere(cell.point);
      const more = { changes: ['votes', change], [where]: () => undefined };
      const hook = defineHook({ name: 'culprit', ...more, [cell.point]: () => ({ [change]: {} }) } as never);
      const { run } = setUp({ hooks: [hook], script: [calls(cell.tool), says('Done.')], ...options });
      expectFailedAt(await run(), cell, `it cannot change "${change}" at this point. Possible changes: `);
    });

    test.each(before)('in $point, because it assigns to what it was handed', async (cell) => {
      const assign = (facts: { state: unknown }): void => {
        facts.state = {};
      };
      const { run } = setUp({ hooks: [hookAt(cell.point, assign)], script: [calls(cell.tool), says('Done.')], ...options });
      expectFailedAt(await run(), cell, 'Cannot set property state');
    });
  });

  describe('that looks on changes nothing, and what went wrong is told', () => {
    const runUndisturbed = async (tool: string): Promise<Expected> =>
      getEnd(await setUp({ hooks: [], script: [calls(tool), says('Done.')], ...options }).run());
    const looking = <Row extends readonly unknown[]>(rows: readonly Row[]) =>
      after.flatMap((point) => rows.map((row) => [point.point, ...row, point] as const));

    test.each(looking(kinds))('in %s: %s', async (point, _kind, handler, problem, { at, tool }) => {
      const { run } = setUp({ hooks: [observerAt(point, handler)], script: [calls(tool), says('Done.')], ...options });
      const told = await run();
      expect(getEnd(told)).toStrictEqual(await runUndisturbed(tool));
      expectReported(told, at, problem);
    });

    const given = [...nothings, ['a vote', { votes: forbid }, ''], ['other words', { output: 'Never.' }, '']] as const;
    test.each(looking(given))('in %s, when it gives back %s', async (point, _kind, back, _problem, { at, tool }) => {
      const { run } = setUp({ hooks: [observerAt(point, () => back)], script: [calls(tool), says('Done.')], ...options });
      const told = await run();
      expect(getEnd(told)).toStrictEqual(await runUndisturbed(tool));
      expectReported(told, at, 'it returned a change, but the step is already recorded.');
    });

    test.each(after)('in $point, when it assigns to what it was handed', async ({ point, at, tool }) => {
      const assign = (facts: { state: unknown }): void => {
        facts.state = {};
      };
      const { run } = setUp({ hooks: [observerAt(point, assign)], script: [calls(tool), says('Done.')], ...options });
      const told = await run();
      expect(getEnd(told)).toStrictEqual(await runUndisturbed(tool));
      expectReported(told, at, 'Cannot set property state');
    });

    test('also where the one who hears of problems throws', async () => {
      const [clock, ids] = [createFakeClock(), createCountingIds('id')];
      const hooks = [observerAt('executionEnd', throws(new Error('Bad luck.')))] as readonly Hook<AgentState, unknown>[];
      const ports = { clock, ids, onProblem: throws(new Error('Deaf.')) };
      const agent = createAgent<unknown, Tools>({ model: scriptedModel([says('Done.')]), hooks, ...options, ports });
      expect((await agent.start('Go.').result).status).toBe('completed');
    });
  });

  describe('that gives back a change in a form that is none fails by name', () => {
    const call = ({ outputMessages }: ToolUseStep): Message => outputMessages[0]!;
    const answer = ({ outputMessages }: ToolUseStep): Message => outputMessages[1]!;
    const withPart = (message: Message, change: object): Message =>
      message.withParts([{ ...message.parts[0], ...change } as never, ...message.parts.slice(1)]);
    const kept = 'its output must keep all tool calls and their results';
    type Row = readonly [point: string, change: string, kind: string, give: (step: ToolUseStep) => unknown, problem: string];
    const rows: readonly Row[] = [
      ['beforeStep', 'tools', 'one that there is not', () => ['work', 'nope'], 'it chose an unknown tool: "nope". Available tools: work'],
      ['beforeStep', 'tools', 'a text', () => 'work', 'its tools must be a list of tool names, not "work".'],
      ['beforeStep', 'tools', 'a list with nothing in it', () => [undefined], 'it chose an unknown tool: '],
      ['beforeStep', 'conversation', 'an object', () => ({}), 'its conversation is not a MessageStore.'],
      ['beforeStep', 'conversation', 'a list', () => [Message.user('Hi.')], 'its conversation is not a MessageStore.'],
      ['beforeInference', 'tools', 'one that there is not', () => ['nope'], 'it chose an unknown tool: "nope". Available tools: work'],
      ['beforeInference', 'tools', 'a text', () => 'work', 'its tools must be a list of tool names, not "work".'],
      ['beforeInference', 'messages', 'a text', () => 'Hi.', 'its messages must be a list with at least one Message.'],
      ['beforeInference', 'messages', 'an empty list', () => [], 'its messages must be a list with at least one Message.'],
      ['beforeInference', 'messages', 'plain objects', () => [{ role: 'user', content: 'Hi.' }], 'its messages must be instances of'],
      ['beforeInference', 'settings', '5', () => 5, 'its settings must be an object, not '],
      ['beforeInference', 'settings', 'a list', () => [], 'its settings must be an object, not '],
      ['beforeInference', 'settings', 'a Map', () => new Map(), 'its settings must be an object, not '],
      ['beforeTool', 'args', 'a Map', () => new Map(), 'its args cannot be stored: it is a Map'],
      ['beforeTool', 'args', 'an object with a promise', () => ({ a: Promise.resolve(1) }), 'its args cannot be stored: a is a promise'],
      ['beforeTool', 'block', 'an empty text', () => '', 'it blocked a call without a reason'],
      ['beforeTool', 'block', 'true', () => true, 'it blocked a call without a reason'],
      ['beforeTool', 'result', 'a Map', () => new Map(), 'its result cannot be stored'],
      ['beforeTool', 'result', 'a promise', () => Promise.resolve(1), 'its result cannot be stored'],
      ['afterTool', 'block', 'an empty text', () => '', 'it blocked a call without a reason'],
      ['afterTool', 'block', 'false', () => false, 'it blocked a call without a reason'],
      ['afterTool', 'result', 'a Map', () => new Map(), 'its result cannot be stored'],
      ['afterStep', 'output', '5', () => 5, 'its output must be a string or a list of messages.'],
      ['afterStep', 'output', 'an object', () => ({}), 'its output must be '],
      ['afterStep', 'output', 'an empty list', () => [], 'its output must be a list with at least one Message.'],
      ['afterStep', 'output', 'plain objects', () => [{ role: 'user' }], 'its output must be instances of Message'],
      ['afterStep', 'output', 'without the call', (step) => [answer(step)], kept],
      ['afterStep', 'output', 'without the result', (step) => [call(step)], kept],
      ['afterStep', 'output', 'with the result twice', (step) => [call(step), answer(step), answer(step)], kept],
      ['afterStep', 'output', 'with the result before the call', (step) => [answer(step), call(step)], kept],
      ['afterStep', 'output', 'other arguments', (step) => [withPart(call(step), { args: {} }), answer(step)], kept],
      ['afterStep', 'output', 'another tool', (step) => [withPart(call(step), { toolName: 'wipe' }), answer(step)], kept],
      [
        'afterStep',
        'output',
        'another result',
        (step) => [call(step), withPart(answer(step), { output: { type: 'text', value: '' } })],
        kept,
      ],
      [
        'afterStep',
        'output',
        'a message that cannot be stored',
        (step) => [call(step), answer(step), Message.assistant('Hi.', { metadata: { a: new Map() } as never })],
        'A message cannot hold this: metadata.a is a Map',
      ],
    ];

    test.each(rows)('in %s, with %s: %s', async (point, change, _kind, give, problem) => {
      const handler = (facts: { readonly step: ToolUseStep }) => ({ [change]: give(facts.step) });
      const { run } = setUp({ hooks: [hookAt(point, handler, { changes: [change] })], ...options });
      expectFailedAt(await run(), findPoint(point), problem);
    });
  });
});

describe('what a hook gives back in a form that there is', () => {
  test('a list of messages with all calls and results is taken as the output of a step', async () => {
    const reword = ({ step }: { readonly step: ToolUseStep }) => ({ output: [...step.outputMessages, Message.user('And now?')] });
    const { run } = setUp({ hooks: [hookAt('afterStep', reword, { changes: ['output'] })] });
    const told = await run();
    expect([told.state.status, hookFailures(told.state)]).toStrictEqual(['completed', []]);
    expect(told.state.messages.toArray().filter((message) => message.text === 'And now?')).toHaveLength(2);
    expectDefined(told);
  });

  test('a vote for which somebody has to wait is listened to, so that its rejection does not end the process', async () => {
    const vote = Promise.reject(new Error('Bad luck.'));
    // Keeps this test from being what ends the process.
    vote.catch(() => undefined);
    const then = vi.spyOn(vote, 'then');
    const { run } = setUp({ hooks: [hookAt('afterStep', () => ({ votes: vote }))] });
    const told = await run();
    expectFailedAt(told, findPoint('afterStep'), 'it voted a promise');
    expect(then).toHaveBeenCalled();
  });

  test('a Map of changes is no object with changes: a block in it is not lost', async () => {
    const { run } = setUp({ hooks: [hookAt('beforeTool', () => new Map([['block', 'not at night']]), { changes: ['block'] })] });
    expectFailedAt(await run(), findPoint('beforeTool'), 'it returned ');
  });

  test('arguments that do not fit the tool fail the call, and the event says whose they are', async () => {
    const hook = hookAt('beforeTool', () => ({ args: 'x' }), { changes: ['args'] });
    const told = await setUp({ hooks: [hook], errors: ErrorPolicy.stopOnAnyError() }).run();
    expect(getEnd(told)).toStrictEqual(['failed', 'error', 1, 1, 0]);
    expect(told.state.errors.map(({ code }) => code)).toStrictEqual(['invalid-arguments']);
    expect(told.events.find(({ type }) => type === 'HookApplied')).toMatchObject({ hook: 'culprit', changed: ['args'] });
    expectDefined(told);
  });

  test.each([
    ['beforeStep', 'tools', ['nope']],
    ['beforeInference', 'messages', []],
    ['beforeTool', 'args', new Map()],
    ['beforeTool', 'block', ''],
    ['afterTool', 'metadata', 5],
    ['afterStep', 'output', 5],
  ])('what was refused in %s is not told as done: %s', async (point, change, given) => {
    const { run } = setUp({ hooks: [hookAt(point, () => ({ [change]: given }), { changes: [change] })] });
    const { events, state } = await run();
    expect(hookFailures(state)).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'HookApplied')).toStrictEqual([]);
  });

  test('the failure of a start is known by its code', async () => {
    const { result } = await setUp({ hooks: [hookAt('executionStart', throws(new Error('Bad luck.')))] }).run();
    expect(result).toMatchObject({ status: 'failed', error: { code: 'hook-failed' } });
  });
});

describe('a hook that is told to slow down', () => {
  const slowDown = () => new RateLimitedError('Slow down.', { retryAfterMs: 200 });
  const always: Readonly<Record<string, Expected>> = {
    executionStart: ['failed', 'error', 0, 0, 0],
    beforeStep: ['failed', 'retry_limit', 3, 0, 0],
    beforeInference: ['failed', 'retry_limit', 3, 0, 0],
    afterInference: ['failed', 'retry_limit', 3, 3, 0],
    beforeTool: ['failed', 'retry_limit', 3, 3, 0],
    afterTool: ['failed', 'retry_limit', 3, 3, 3],
    afterStep: ['failed', 'retry_limit', 3, 3, 3],
    onError: ['failed', 'retry_limit', 3, 3, 3],
  };
  const once: Readonly<Record<string, Expected>> = {
    executionStart: ['failed', 'error', 0, 0, 0],
    beforeStep: ['completed', 'completed', 3, 2, 1],
    beforeInference: ['completed', 'completed', 3, 2, 1],
    afterInference: ['completed', 'completed', 2, 2, 0],
    beforeTool: ['completed', 'completed', 2, 2, 0],
    afterTool: ['completed', 'completed', 2, 2, 1],
    afterStep: ['completed', 'completed', 2, 2, 1],
    onError: ['completed', 'completed', 2, 2, 1],
  };

  test.each(before)('each time in $point is tried three times if the policy retries by number', async ({ point, at, tool }) => {
    const errors = ErrorPolicy.retryToolErrors(3);
    const told = await setUp({ hooks: [hookAt(point, () => Promise.reject(slowDown()))], script: [calls(tool)], errors }).run();
    expect(getEnd(told)).toStrictEqual(always[point]);
    expect(told.state.explain()).toContain(`Hook "culprit" failed at ${at}: Slow down`);
    expect(hookFailures(told.state)).toHaveLength(told.state.stepCount);
    expectDefined(told);
  });

  test.each(before)('once in $point is tried again, and the run goes on', async ({ point, tool }) => {
    const seen = { count: 0 };
    const handler = (): void => {
      seen.count += 1;
      if (seen.count === 1) throw slowDown();
    };
    const told = await setUp({ hooks: [hookAt(point, handler)], script: [calls(tool), says('Done.')] }).run();
    expect(getEnd(told)).toStrictEqual(once[point]);
    expectDefined(told);
  });

  test.each(before)('in $point ends a run that tries nothing again', async (cell) => {
    const hooks = [hookAt(cell.point, throws(slowDown()))];
    const told = await setUp({ hooks, script: [calls(cell.tool)], errors: ErrorPolicy.stopOnAnyError() }).run();
    expectFailedAt(told, cell, 'Slow down.');
  });
});

describe('behind a hook that fails, another one', () => {
  const isAsked: Readonly<Record<string, boolean>> = {
    executionStart: false,
    beforeStep: false,
    beforeInference: false,
    afterInference: false,
    beforeTool: true,
    afterTool: true,
    afterStep: true,
    onError: true,
  };

  test.each(before)('in $point is asked where the failure does not end the point', async (cell) => {
    const seen: string[] = [];
    const second = hookAt(cell.point, () => void seen.push(cell.point), { name: 'second' });
    const hooks = [second, hookAt(cell.point, throws(new Error('Bad luck.')), { order: -1 })];
    const told = await setUp({ hooks, script: [calls(cell.tool), says('Done.')] }).run();
    expectFailedAt(told, cell, 'Bad luck.');
    expect(seen).toStrictEqual(isAsked[cell.point] === true ? [cell.point] : []);
  });

  test.each(after)('in $point is asked where both only look on', async ({ point, at, tool }) => {
    const seen: string[] = [];
    const hooks = [observerAt(point, throws(new Error('Bad luck.'))), observerAt(point, () => void seen.push(point), 'second')];
    const told = await setUp({ hooks, script: [calls(tool), says('Done.')] }).run();
    expectReported(told, at, 'Bad luck.');
    expect(seen).toHaveLength(told.problems.length);
  });

  test('for failures is asked about a step that failed only because of a hook', async () => {
    const seen: unknown[] = [];
    const look = ({ errors }: { readonly errors: readonly { readonly code: string }[] }) => void seen.push(errors.map(({ code }) => code));
    const hooks = [hookAt('afterStep', throws(new Error('Bad luck.'))), hookAt('onError', look, { name: 'second' })];
    expectFailedAt(await setUp({ hooks }).run(), findPoint('afterStep'), 'Bad luck.');
    expect(seen).toStrictEqual([['hook-failed']]);
  });

  test('does not let a call through that the first one failed', async () => {
    const second = hookAt('beforeTool', () => ({ result: 'from the cache' }), { name: 'second', changes: ['result'] });
    const told = await setUp({ hooks: [hookAt('beforeTool', throws(new Error('Bad luck.'))), second] }).run();
    expectFailedAt(told, findPoint('beforeTool'), 'Bad luck.');
    expect(told.state.steps[0]?.executions.map(({ status }) => status)).toStrictEqual(['failed']);
  });

  test('fails too, and both are named', async () => {
    const second = hookAt('afterTool', throws(new Error('Worse luck.')), { name: 'second' });
    const told = await setUp({ hooks: [hookAt('afterTool', throws(new Error('Bad luck.'))), second] }).run();
    expect(hookFailures(told.state)).toStrictEqual([
      'Hook "culprit" failed at after_tool: Bad luck.',
      'Hook "second" failed at after_tool: Worse luck.',
    ]);
    expect(getEnd(told)).toStrictEqual(['failed', 'error', 1, 1, 1]);
    expectDefined(told);
  });
});

describe('a hook that changes in place what it was handed', () => {
  type Deed = 'overwrites' | 'adds to';
  type Row = readonly [point: string, deed: Deed, path: string];
  const settings = () => ({ temperature: 0.5, stop: ['x'], providerOptions: { some: { key: 1 } } });
  const step = (value: unknown, key: string): unknown =>
    value instanceof Messages ? value.at(Number(key)) : (value as Readonly<Record<string, unknown>> | undefined)?.[key];
  const reach = (facts: unknown, path: readonly string[]): unknown => path.reduce<unknown>(step, facts);

  /** Does it, as a script without types would, and says whether there was something to do it to. */
  function commit(deed: Deed, path: string, facts: unknown): boolean {
    const keys = path.split('.');
    const [target, key] = deed === 'adds to' ? [reach(facts, keys), ''] : [reach(facts, keys.slice(0, -1)), keys.at(-1)!];
    if (typeof target !== 'object' || target === null) return false;
    try {
      if (deed === 'adds to') (target as unknown[]).push('added in place');
      else (target as Record<string, unknown>)[key] = 'changed in place';
    } catch {
      // It was refused; this hook carries on regardless.
    }
    return deed === 'adds to' ? Array.isArray(target) : key in target;
  }

  async function runWithHook(tool: string, hook: unknown, options: object) {
    const given = settings();
    const { run, agent } = setUp({ hooks: [hook], script: [calls(tool), says('Done.')], settings: given, ...options });
    const told = await run();
    const requests = told.model.calls.map(({ messages, tools, settings: used }) => ({ messages, tools, used }));
    expectDefined(told);
    return JSON.stringify([told.state, requests, told.ran, agent.describe(), given, told.problems]);
  }

  async function expectUnharmed([point, deed, path]: Row, make: typeof hookAt, options: object): Promise<void> {
    const tool = point === 'onError' ? 'break' : 'work';
    const seen = { found: false };
    const handler = (facts: unknown): void => {
      if (commit(deed, path, facts)) seen.found = true;
    };
    const idle = make(point, () => undefined);
    // Taken before the deed, so that harm done to something that runs share is seen too.
    const unharmed = await runWithHook(tool, idle, options);
    expect(await runWithHook(tool, make(point, handler), options)).toBe(unharmed);
    expect(seen.found, `there is no ${path} in ${point}`).toBe(true);
    expect(await runWithHook(tool, idle, options)).toBe(unharmed);
  }

  const rows: readonly Row[] = [
    ['executionStart', 'overwrites', 'state.metadata.plan'],
    ['executionStart', 'overwrites', 'state.metadata.plan.a'],
    ['executionStart', 'overwrites', 'state.messages.0.parts.0.text'],
    ['executionStart', 'overwrites', 'state.execution.failedSteps'],
    ['executionStart', 'overwrites', 'state.data.metadata'],
    ['beforeStep', 'overwrites', 'state.messages.-1.parts.0.text'],
    ['beforeStep', 'overwrites', 'state.messages.-1.parts.0.output.value'],
    ['beforeStep', 'overwrites', 'state.steps.0.toolCalls.0.args.a'],
    ['beforeStep', 'overwrites', 'state.steps.0.executions.0.status'],
    ['beforeStep', 'overwrites', 'state.steps.0.executions.0.value.done'],
    ['beforeStep', 'adds to', 'state.steps.0.toolCalls'],
    ['beforeStep', 'adds to', 'state.steps.0.executions'],
    ['beforeStep', 'adds to', 'state.lastStepResult.outcome.evaluations'],
    ['beforeStep', 'overwrites', 'state.lastStepResult.timing.activeMs'],
    ['beforeInference', 'adds to', 'messages'],
    ['beforeInference', 'overwrites', 'messages.0'],
    ['beforeInference', 'overwrites', 'messages.0.parts.0.text'],
    ['beforeInference', 'adds to', 'messages.0.parts'],
    ['beforeInference', 'adds to', 'tools'],
    ['beforeInference', 'overwrites', 'settings.temperature'],
    ['beforeInference', 'adds to', 'settings.stop'],
    ['beforeInference', 'overwrites', 'settings.providerOptions.some.key'],
    ['afterInference', 'adds to', 'response.parts'],
    ['afterInference', 'overwrites', 'response.parts.0.toolName'],
    ['afterInference', 'overwrites', 'response.parts.0.args.a'],
    ['afterInference', 'overwrites', 'response.parts.0.text'],
    ['afterInference', 'overwrites', 'response.usage.total'],
    ['afterInference', 'overwrites', 'response.finishReason'],
    ['beforeTool', 'overwrites', 'call.name'],
    ['beforeTool', 'overwrites', 'call.args'],
    ['beforeTool', 'overwrites', 'call.args.a.b'],
    ['beforeTool', 'overwrites', 'state.metadata.plan'],
    ['afterTool', 'overwrites', 'call.args.a'],
    ['afterTool', 'overwrites', 'execution.status'],
    ['afterTool', 'overwrites', 'execution.value'],
    ['afterTool', 'overwrites', 'execution.value.done.deep'],
    ['afterTool', 'overwrites', 'execution.output.value'],
  ];
  const both: readonly Row[] = [
    ['afterStep', 'adds to', 'step.errors'],
    ['afterStep', 'overwrites', 'step.errors'],
    ['afterStep', 'overwrites', 'step.stepType'],
    ['afterStep', 'adds to', 'step.outputMessages'],
    ['afterStep', 'overwrites', 'step.outputMessages.0.parts.0.toolName'],
    ['afterStep', 'overwrites', 'step.outputMessages.0.parts.0.args.a'],
    ['afterStep', 'overwrites', 'step.outputMessages.1.parts.0.output.value'],
    ['afterStep', 'adds to', 'step.toolCalls'],
    ['afterStep', 'overwrites', 'step.toolCalls.0.args.a'],
    ['afterStep', 'adds to', 'step.executions'],
    ['afterStep', 'overwrites', 'step.executions.0.status'],
    ['afterStep', 'overwrites', 'step.executions.0.value.done'],
    ['afterStep', 'overwrites', 'step.usage.total'],
    ['onError', 'adds to', 'errors'],
    ['onError', 'overwrites', 'errors.0.type'],
    ['onError', 'overwrites', 'errors.0.message'],
    ['onError', 'overwrites', 'errors.0.retryable'],
    ['onError', 'overwrites', 'step.executions.0.failure.message'],
  ];
  const atTheEnd: readonly Row[] = [
    ['executionEnd', 'adds to', 'outcome.evaluations'],
    ['executionEnd', 'overwrites', 'outcome.evaluations.0.reason'],
    ['executionEnd', 'overwrites', 'outcome.evaluations.2.context'],
    ['executionEnd', 'overwrites', 'outcome.evaluations.2.context.currentSteps'],
    ['executionEnd', 'adds to', 'step.errors'],
    ['executionEnd', 'adds to', 'step.toolCalls'],
    ['executionEnd', 'overwrites', 'state.metadata.plan'],
    ['executionEnd', 'overwrites', 'state.metadata.plan.a'],
    ['executionEnd', 'overwrites', 'state.steps.0.toolCalls.0.args.a'],
    ['executionEnd', 'overwrites', 'state.steps.0.executions.0.value.done'],
    ['executionEnd', 'overwrites', 'state.usage.total'],
    ['executionEnd', 'overwrites', 'state.data.metadata'],
  ];

  describe.each(pickSubjects(policies))('under %s', (_, options) => {
    test.each([...rows, ...both])('harms nothing when it, in %s, %s %s', (...row) => expectUnharmed(row, hookAt, options));
    test.each([...both, ...atTheEnd])('harms nothing when it looks on and, in %s, %s %s', (...row) =>
      expectUnharmed(row, (point, handler) => observerAt(point, handler), options),
    );
  });
});

describe('a hook that cannot work is refused when it is made:', () => {
  const run = (): void => undefined;
  const rows: readonly (readonly [what: string, options: unknown, problem: string])[] = [
    ['nothing at all', undefined, 'A hook needs a name: a non-empty string, not '],
    ['a list', [], 'A hook needs a name: a non-empty string, not '],
    ['no name', { beforeStep: run }, 'A hook needs a name: a non-empty string, not '],
    ['an empty name', { name: '', beforeStep: run }, 'A hook needs a name: a non-empty string, not '],
    ['a name that is no text', { name: 5, beforeStep: run }, 'A hook needs a name: a non-empty string, not '],
    ['no handler', { name: 'h' }, 'Hook "h" has no handler. Add at least one of executionStart, beforeStep'],
    ['an unknown option', { name: 'h', beforeSteps: run }, 'Unknown option "beforeSteps" in hook "h". Did you mean "beforeStep"?'],
    ['a handler that is no function', { name: 'h', beforeStep: 'run' }, 'Hook "h" must have a function as beforeStep'],
    ['a handler that is null', { name: 'h', beforeStep: null }, 'Hook "h" must have a function as beforeStep'],
    ['an unknown change', { name: 'h', beforeStep: run, changes: ['mood'] }, 'Hook "h" has an unknown entry "mood" in changes. Use any of'],
    ['an undefined change', { name: 'h', beforeStep: run, changes: [undefined] }, 'Hook "h" has an unknown entry'],
    ['changes that are no list', { name: 'h', beforeStep: run, changes: 'votes' }, 'Hook "h" must have a list as changes'],
    [
      'a change that no handler can make',
      { name: 'h', beforeStep: run, changes: ['args'] },
      'Hook "h" has "args" in changes, but no handler that can change it. Add beforeTool, or remove "args".',
    ],
    [
      'a change by one that only looks on',
      { name: 'h', executionEnd: run, changes: ['votes'] },
      'Hook "h" has "votes" in changes, but no handler that can change it. Add executionStart',
    ],
    ['an order that is NaN', { name: 'h', beforeStep: run, order: NaN }, 'Hook "h" must have a number as order, not NaN.'],
    ['an order that is a text', { name: 'h', beforeStep: run, order: '1' }, 'Hook "h" must have a number as order, not "1".'],
    ['no time', { name: 'h', beforeStep: run, timeoutMs: 0 }, 'Hook "h" must have a timeoutMs above 0, or Infinity'],
    ['a time that is NaN', { name: 'h', beforeStep: run, timeoutMs: NaN }, 'Hook "h" must have a timeoutMs above 0, or Infinity'],
    ['a time that is a text', { name: 'h', beforeStep: run, timeoutMs: '5' }, 'Hook "h" must have a timeoutMs above 0, or Infinity'],
  ];

  test.each(rows)('%s', (_, options, problem) => {
    expect(() => defineHook(options as never)).toThrow(InvalidArgumentError);
    expect(() => defineHook(options as never)).toThrow(problem);
    expect(() => defineAnyHook(options as never)).toThrow(InvalidArgumentError);
    expect(() => defineAnyHook(options as never)).toThrow(problem);
  });

  const hook = defineHook({ name: 'h', changes: ['votes'], beforeStep: run });
  const model = scriptedModel([]);
  const refused: readonly (readonly [what: string, options: object, problem: string])[] = [
    ['hooks that are no list', { hooks: hook }, 'hooks must be a list of hooks, not an object.'],
    [
      'what is not a hook among the hooks',
      { hooks: [hook, { name: 'x', beforeStep: run }] },
      'hooks[1] is not a hook. Create it with defineHook',
    ],
    ['nothing among the hooks', { hooks: [undefined] }, 'hooks[0] is not a hook. Create it with defineHook'],
    ['a function among the hooks', { hooks: [run] }, 'hooks[0] is not a hook. Create it with defineHook'],
    ['a capability given twice', { capabilities: [{ name: 'c' }, { name: 'c' }] }, 'The capability "c" was added twice'],
    [
      'a capability with an unknown part',
      { capabilities: [{ name: 'c', hook: [] }] },
      'Unknown option "hook" in capability "c". Did you mean "hooks"?',
    ],
    ['a capability without a name', { capabilities: [{ hooks: [] }] }, 'A capability needs a name: a non-empty string, not '],
    ['a capability that is none', { capabilities: ['c'] }, 'A capability needs a name: a non-empty string, not '],
    ['a capability whose hooks are none', { capabilities: [{ name: 'c', hooks: [{}] }] }, 'Capability "c" must have a list of hooks'],
    [
      'a capability whose criteria are no list',
      { capabilities: [{ name: 'c', criteria: {} }] },
      'Capability "c" must have a list of criteria',
    ],
    [
      'a capability whose words are a number',
      { capabilities: [{ name: 'c', instructions: 5 }] },
      'Capability "c" must have a string as instructions',
    ],
  ];

  test.each(refused)('%s', (_, options, problem) => {
    expect(() => createAgent({ model, ...options })).toThrow(InvalidArgumentError);
    expect(() => createAgent({ model, ...options })).toThrow(problem);
  });

  test.each([
    ['an unknown part', { name: 'c', hook: [] }, 'Unknown option "hook" in capability "c". Did you mean "hooks"?'],
    ['no name', { tools: {} }, 'A capability needs a name: a non-empty string, not '],
    ['hooks that were not made', { name: 'c', hooks: [{ name: 'h', beforeStep: run }] }, 'Capability "c" must have a list of hooks'],
  ])('a capability with %s', (_, parts, problem) => {
    expect(() => defineCapability(parts as never)).toThrow(InvalidArgumentError);
    expect(() => defineCapability(parts as never)).toThrow(problem);
  });

  test('but not for its name: one that a criterion has gets a number', () => {
    const silent = defineHook({ name: 'StepsLimit', beforeStep: run });
    expect(
      createAgent({ model, hooks: [silent] })
        .describe()
        .hooks.map(({ name }) => name),
    ).toStrictEqual(['StepsLimit#2']);
  });
});
