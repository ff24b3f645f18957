// What a run says of itself: what it cost, who carried it out, what it said, why it failed, and what it refuses.
import { describe, expect, test } from 'vitest';
import { stopWhen } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { Model } from '../inference/index.ts';
import { priceTable } from '../inference/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { createCountingIds, createFakeClock, sleep } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent } from '../tool-use/index.ts';
import { reActDriver, ToolUse, ToolUseState } from '../tool-use/index.ts';
import type { Tool, Tools } from '../tools/index.ts';
import { defineContext, defineTool } from '../tools/index.ts';
import type { AgentOptions } from './index.ts';
import { AgentState, createAgent } from './index.ts';

// The set-up

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const anything = { type: 'object', properties: {} } as const;
const wipe = defineTool({ name: 'wipe', description: 'Wipes.', input: anything, needsApproval: true, run: () => 'wiped' });
const work = defineTool({ name: 'work', description: 'Works.', input: anything, run: () => 'worked' });

function setUp(model: Model, options: Partial<Omit<AgentOptions, 'capabilities'>> = {}) {
  const clock = createFakeClock();
  const ids = createCountingIds('id');
  const agent = createAgent<unknown, Tools>({ model, ...options, ports: { clock, ids, random: () => 0.5, onProblem: () => undefined } });
  const start = AgentState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { agent, clock, start };
}

const inMemory = (state: AgentState): AgentState => state;
const throughJson = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
const ways = [
  ['in memory', inMemory],
  ['through JSON', throughJson],
] as const;

// The tests

describe('what a run with a fallback costs', () => {
  const perMillion = (usd: number) => ({ inputPerMillion: usd, outputPerMillion: usd });
  const price = priceTable({ 'dear/a': perMillion(1_000_000), 'fair/b': perMillion(10_000), 'cheap/c': perMillion(100) });
  const busy = (type: Failure['type'] = 'model'): Failure => ({ type, code: 'busy', message: 'Come back later.', retryable: true });
  const model = (name: string, ...script: readonly ScriptedEntry[]) => {
    const [provider = '', modelId = ''] = name.split('/');
    return scriptedModel(script, { provider, modelId });
  };
  const cheap = () => model('cheap/c', says('Done.'));
  const brokeOff = { text: 'Half', error: busy() };

  test('is what each attempt reported, at the price of its own model', async () => {
    const dear = model('dear/a', { ...brokeOff, usage: { input: 100, output: 20 } });
    const fair = model('fair/b', { ...brokeOff, usage: { input: 30, output: 0 } });
    const { agent, start } = setUp(dear, { fallback: [fair, cheap()], price });
    const { status, text, usage: spent, cost, state } = await agent.start(start).result;
    expect([status, text, state.stepCount, state.steps[0]?.model]).toStrictEqual(['completed', 'Done.', 1, 'cheap/c']);
    expect([spent.input, spent.output, spent.unknownCalls ?? 0]).toStrictEqual([140, 25, 0]);
    expect(cost?.usd).toBeCloseTo(120 + 30 * 0.01 + 15 * 0.0001, 8);
    expect(cost?.unknownCalls).toBeUndefined();
  });

  test('is that also where cached tokens were used', async () => {
    const cached = priceTable({ 'dear/a': { ...perMillion(1_000_000), cacheReadPerMillion: 500_000 }, 'cheap/c': perMillion(100) });
    const dear = model('dear/a', { ...brokeOff, usage: { input: 100, output: 0, cacheRead: 40 } });
    const { agent, start } = setUp(dear, { fallback: [cheap()], price: cached });
    const { cost } = await agent.start(start).result;
    expect(cost?.usd).toBeCloseTo(60 + 20 + 15 * 0.0001, 8);
  });

  test('is that also where the last one failed, too', async () => {
    const dear = model('dear/a', { ...brokeOff, usage: { input: 100, output: 20 } });
    const fair = model('fair/b', { ...brokeOff, usage: { input: 30, output: 0 } });
    const { agent, start } = setUp(dear, { fallback: [fair], price, errors: ErrorPolicy.stopOnAnyError() });
    const { status, usage: spent, state } = await agent.start(start).result;
    expect([status, spent.total]).toStrictEqual(['failed', 150]);
    expect(state.cost?.usd).toBeCloseTo(120 + 30 * 0.01, 8);
  });

  test('is unknown, visibly, for an attempt that broke off and reported nothing', async () => {
    const { agent, start } = setUp(model('dear/a', brokeOff), { fallback: [cheap()], price, limits: { costUsd: 5 } });
    const { usage: spent, cost, state } = await agent.start(start).result;
    expect([spent.total, spent.unknownCalls]).toStrictEqual([15, 1]);
    expect(cost?.unknownCalls).toBe(1);
    expect(cost?.usd).toBeCloseTo(15 * 0.0001, 8);
    expect(state.explain({ brief: true })).toMatch(
      /CostLimit could not count everything: .* of 5 US dollars spent; the cost of 1 call is not known\./,
    );
    expect(throughJson(state).cost).toStrictEqual(cost);
  });

  test.each<Failure['type']>(['rate_limit', 'model', 'timeout'])(
    'is nothing for an attempt that was refused at the door (%s)',
    async (type) => {
      const { agent, start } = setUp(model('dear/a', { error: busy(type) }), { fallback: [cheap()], price, limits: { costUsd: 5 } });
      const { usage: spent, cost, state } = await agent.start(start).result;
      expect([spent.total, spent.unknownCalls ?? 0, cost?.unknownCalls ?? 0]).toStrictEqual([15, 0, 0]);
      expect(cost?.usd).toBeCloseTo(15 * 0.0001, 8);
      expect(state.explain()).not.toContain('could not count all');
    },
  );

  test('keeps what a failed attempt reported where the next one is cut off', async () => {
    const dear = model('dear/a', { ...brokeOff, usage: { input: 100, output: 20 } });
    const { agent, start, clock } = setUp(dear, { fallback: [model('cheap/c', () => new Promise(() => undefined))], price });
    const host = new AbortController();
    const running = agent.start(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const { status, usage: spent, cost } = await running.result;
    expect([status, spent.total, spent.unknownCalls, cost]).toStrictEqual(['stopped', 120, 1, { usd: 120, unknownCalls: 1 }]);
  });

  test('names a cost limit that could not count all where the price list does not know the model, too', async () => {
    const { agent, start } = setUp(scriptedModel([says('Done.')]), { price: priceTable({}), limits: { costUsd: 5 } });
    const { cost, explain } = await agent.start(start).result;
    expect(cost).toStrictEqual({ usd: 0, unknownCalls: 1 });
    expect(explain({ brief: true })).toContain(
      'CostLimit could not count everything: 0 of 5 US dollars spent; the cost of 1 call is not known.',
    );
  });

  test.each(['gpt-5', ''])('a price list with "%s" names no provider, and is refused', (name) => {
    expect(() => priceTable({ [name]: perMillion(1) })).toThrow(`"${name}" in priceTable() has no provider. Use "provider/model"`);
  });
});

describe.each(ways)('an execution that another agent takes up, %s,', (_, carry) => {
  const createVersion = (id: string, version: string | undefined, script: readonly ScriptedEntry[], tools: readonly Tool[] = [wipe]) =>
    setUp(scriptedModel(script), { id, tools, ...(version !== undefined && { version }) }).agent;
  const asks = { toolCalls: [{ id: 'a', name: 'wipe' }], usage };
  const toIdentity = ({ id, version, fingerprint }: ReturnType<typeof createVersion>): JsonObject => ({
    id,
    ...(version !== undefined && { version }),
    fingerprint,
  });

  test('keeps who began it, and lists who went on', async () => {
    const first = createVersion('desk', '1', [asks]);
    const second = createVersion('desk', '2', [asks]);
    const third = createVersion('billing', undefined, [says('Done.')], [wipe, work]);
    const events: ToolEvent[] = [];
    const hear = { onEvent: (event: ToolEvent) => events.push(event) };
    const one = carry((await first.start('Go.', hear).result).state);
    expect([one.execution.agent, one.execution.resumedBy]).toStrictEqual([toIdentity(first), undefined]);
    const two = carry((await second.start(one.approve('a'), hear).result).state);
    expect(two.status).toBe('waiting');
    expect([two.execution.agent, two.execution.resumedBy]).toStrictEqual([toIdentity(first), [toIdentity(second)]]);
    const three = carry((await third.start(two.approve('a'), hear).result).state);
    expect([three.status, three.text]).toStrictEqual(['completed', 'Done.']);
    expect(three.execution.agent).toStrictEqual(toIdentity(first));
    expect(three.execution.resumedBy).toStrictEqual([toIdentity(second), toIdentity(third)]);
    const begun = events.flatMap((event) => (event.type === 'AgentExecutionStarted' ? [event.agent] : []));
    expect(begun).toStrictEqual([first, second, third].map(toIdentity));
  });

  test('lists nobody where the same one goes on, also step by step', async () => {
    const agent = createVersion('desk', '1', [asks, asks, says('Done.')]);
    let state = carry((await agent.start('Go.').result).state);
    while (state.status !== 'completed') {
      state = carry(await agent.nextStep(state.status === 'waiting' ? state.approve('a') : state));
    }
    expect([state.execution.agent, state.execution.resumedBy]).toStrictEqual([toIdentity(agent), undefined]);
  });

  test('lists nobody in the next execution, which is the other’s own', async () => {
    const first = createVersion('desk', '1', [says('Done.')]);
    const second = createVersion('desk', '2', [says('Done.')]);
    const one = carry((await first.start('Go.').result).state);
    const two = carry((await second.start(one.withUserMessage('Again.')).result).state);
    expect([two.execution.agent, two.execution.resumedBy]).toStrictEqual([toIdentity(second), undefined]);
    expect(two.session.executions[0]?.agent).toStrictEqual(toIdentity(first));
  });
});

describe.each(ways)('people who answer late or badly, %s:', (_, carry) => {
  test('an approval two hours later runs the call', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'a', name: 'wipe' }], usage }, says('Done.')]);
    const { agent, clock, start } = setUp(model, { tools: [wipe] });
    const waiting = carry(await agent.nextStep(start));
    await clock.advance(2 * 3_600_000);
    const answered = carry(waiting.approve('a'));
    expect(agent.hasNextStep(answered)).toBe(true);
    const went = carry(await agent.nextStep(answered));
    expect([went.status, went.stopReason]).toStrictEqual(['in_progress', undefined]);
    expect(went.steps).toMatchObject([{ executions: [{ status: 'succeeded', value: 'wiped' }] }]);
    const end = await agent.nextStep(went);
    expect([end.status, end.stopReason, end.text]).toStrictEqual(['completed', 'completed', 'Done.']);
  });

  test('arguments that do not fit, a message, and another message: the model reads both, in order', async () => {
    const schema = { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const;
    const drop = defineTool({ name: 'drop', description: 'Drops.', input: schema, needsApproval: true, run: ({ id }) => id });
    const model = scriptedModel([{ toolCalls: [{ id: 'a', name: 'drop', args: { id: 1 } }], usage }, says('Done.')]);
    const { agent, start } = setUp(model, { tools: [drop] });
    const waiting = carry(await agent.run(start));
    const again = carry(await agent.run(carry(waiting.approve('a', { args: { id: 'bad' } }).withUserMessage('A'))));
    expect([again.status, again.waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['a']]);
    expect(again.waitingFor[0]?.problem).toContain('do not fit');
    const end = await agent.run(carry(again.withUserMessage('B')));
    expect(end.status).toBe('completed');
    const read = model.calls.at(-1)!.messages;
    expect(read.filter(({ role }) => role === 'user').map(({ text }) => text)).toStrictEqual(['Go.', 'A', 'B']);
    expect(read.map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'user', 'user']);
  });
});

describe('the text of a run that reasons and acts', () => {
  const decides = (decision: JsonObject): ScriptedAnswer => ({ text: JSON.stringify({ thought: 'I must think.', ...decision }), usage });
  const acts = decides({ type: 'call_tool', tool: 'work', args: '{}', answer: null });
  const gated = decides({ type: 'call_tool', tool: 'wipe', args: '{}', answer: null });
  const nonsense: ScriptedAnswer = { text: 'I must think. Action: work {}', usage };
  const answers = decides({ type: 'final_answer', tool: null, args: null, answer: 'It is done.' });

  test.each<[string, readonly ScriptedEntry[], Partial<Omit<AgentOptions, 'capabilities'>>, string]>([
    ['that ends at a limit', [acts, acts], { limits: { steps: 2 } }, ''],
    ['that waits for somebody', [acts, gated], {}, ''],
    ['that cannot be read', [nonsense], { errors: ErrorPolicy.stopOnAnyError() }, ''],
    ['that could not be read first', [nonsense, acts, answers], {}, 'It is done.'],
    ['that failed after an action', [acts, { error: new Error('broken') }], { errors: ErrorPolicy.stopOnAnyError() }, ''],
    ['that answers', [acts, answers], {}, 'It is done.'],
  ])('%s shows no thoughts and no actions', async (_, script, options, text) => {
    const { agent, start } = setUp(scriptedModel(script), { tools: [work, wipe], driver: reActDriver(), ...options });
    const seen: string[] = [];
    for await (const state of agent.iterate(start)) seen.push(state.text, throughJson(state).text);
    expect(seen.join(' ')).not.toMatch(/think|Action|Thought/);
    expect(seen.at(-1)).toBe(text);
    expect(seen.at(-2)).toBe(text);
  });

  test('shows none either where it was cut off in the middle of a thought', async () => {
    const thinking = async function* (clock: ReturnType<typeof createFakeClock>): AsyncGenerator<string> {
      yield '{"thought": "I must think';
      await sleep(clock, 5000);
    };
    const holder: { clock?: ReturnType<typeof createFakeClock> } = {};
    const { agent, start, clock } = setUp(scriptedModel([acts, () => ({ chunks: thinking(holder.clock!) })]), {
      tools: [work],
      driver: reActDriver(),
    });
    holder.clock = clock;
    const host = new AbortController();
    const running = agent.start(start, { signal: host.signal });
    await clock.advance(10);
    host.abort('enough');
    await clock.advance(100);
    const { status, text, state } = await running.result;
    expect([status, text, state.stepCount]).toStrictEqual(['stopped', '', 2]);
    await clock.advance(5000);
  });
});

describe('the error of a failed run shows no secret, and its state keeps the truth', () => {
  // Written in pieces so that secret scanners leave this file alone.
  const secret = ['abcdefghijklmnopqrstuvwxyz', '0123456789'].join('');
  const words = `401 for Bearer ${secret}`;
  const throwing = (): never => {
    throw new Error(words);
  };
  const breaks = defineTool({ name: 'break', description: 'Breaks.', input: anything, run: throwing });
  const stop = { errors: ErrorPolicy.stopOnAnyError() };

  test.each<[string, readonly ScriptedEntry[], Partial<Omit<AgentOptions, 'capabilities'>>]>([
    ['a tool that throws it', [{ toolCalls: [{ name: 'break' }] }], { tools: [breaks], ...stop }],
    ['a model that fails with it', [{ error: new Error(words) }], stop],
    ['instructions that throw it', [says('Done.')], { instructions: throwing, ...stop }],
  ])('%s', async (_, script, options) => {
    const { agent, start } = setUp(scriptedModel(script), options);
    const result = await agent.start(start).result;
    if (result.status !== 'failed') throw new Error(`It is ${result.status}.`);
    expect(result.error.message).toContain('401 for Bearer');
    expect(result.error.message).not.toContain(secret);
    expect(result.explain()).not.toContain(secret);
    expect(result.state.errors[0]?.message).toContain(secret);
    expect(throughJson(result.state).errors[0]?.message).toContain(secret);
  });

  test('a criterion that throws it', async () => {
    const { agent, start } = setUp(scriptedModel([says('Done.')]), { criteria: [stopWhen('Shaky', throwing)] });
    const result = await agent.start(start).result;
    if (result.status !== 'failed') throw new Error(`It is ${result.status}.`);
    expect(result.error.message).not.toContain(secret);
    expect(result.explain()).not.toContain(secret);
  });

  test('an output schema that throws it when the output is read', async () => {
    let checks = 0;
    const output = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => ((checks += 1) === 1 ? { value } : throwing()),
        jsonSchema: { input: () => ({ type: 'object', properties: {} }), output: () => ({ type: 'object', properties: {} }) },
      },
    } as const;
    const { agent, start } = setUp(scriptedModel([says('{}')]), { output });
    const result = await agent.start(start).result;
    if (result.status !== 'failed') throw new Error(`It is ${result.status}.`);
    expect(result.error.code).toBe('no-output');
    expect(result.error.message).not.toContain(secret);
  });
});

describe('what is refused', () => {
  const needs = defineContext<{ readonly user: string }>();
  const reads = defineTool({
    name: 'read',
    description: 'Reads.',
    input: anything,
    context: needs,
    run: (_args, { context }) => context.user,
  });
  const model = () => scriptedModel([{ toolCalls: [{ id: 'a', name: 'read' }], usage }, says('Done.')]);

  describe.each<[string, () => Pick<ReturnType<typeof createAgent>, 'start' | 'run' | 'nextStep' | 'iterate'>]>([
    ['a tool', () => createAgent({ model: model(), tools: [reads] })],
    ['the agent', () => createAgent({ model: scriptedModel([says('Done.')]), context: needs })],
  ])('a run without the context that %s declared', (_, open) => {
    const message = 'This agent needs a context: its tools, hooks or instructions read it. Pass { context } to run() or start()';
    const state = AgentState.empty().withUserMessage('Go.');

    test('at start, run, nextStep, stream and iterate', async () => {
      const agent = open();
      await expect((async () => agent.start('Go.').result)()).rejects.toThrow(message);
      await expect((async () => agent.start(state).result)()).rejects.toThrow(message);
      await expect(agent.run(state)).rejects.toThrow(message);
      await expect(agent.nextStep(state)).rejects.toThrow(message);
      await expect(agent.nextStep(state, { context: undefined })).rejects.toThrow(message);
      await expect((async () => agent.start(state).result)()).rejects.toThrow(message);
      await expect(agent.iterate(state).next()).rejects.toThrow(message);
    });

    test('but not with it', async () => {
      const end = await open().run(state, { context: { user: 'Ann' } });
      expect([end.status, end.text]).toStrictEqual(['completed', 'Done.']);
    });
  });

  test('a run without the context that a tool declared, of ToolUse, too', async () => {
    const use = new ToolUse({ model: model(), tools: [reads] });
    const state = ToolUseState.empty().withUserMessage('Go.');
    await expect(use.run(state, {} as never)).rejects.toThrow('This agent needs a context');
    await expect(use.nextStep(state, {} as never)).rejects.toThrow('This agent needs a context');
  });

  test.each<[object, string]>([
    [{ abortSignal: new AbortController().signal }, 'Unknown option "abortSignal" in the options of a run'],
    [{ abortSignal: new AbortController().signal }, 'Use signal.'],
    [{ signal: new AbortController() }, 'signal must be an AbortSignal'],
    [{ onEvent: {} }, 'onEvent must be a function, not an object.'],
  ])('a start with %o: %s', async (options, message) => {
    const { agent } = setUp(scriptedModel([says('Done.')]));
    await expect((async () => agent.start('Go.', options as never).result)()).rejects.toThrow(message);
  });

  test.each([[7], [null], [{}], [[]], [{ kind: 'agent-state' }]])('a start with %o for input', async (input) => {
    const { agent } = setUp(scriptedModel([says('Done.')]));
    await expect((async () => agent.start(input as never).result)()).rejects.toThrow(
      'start() needs a string, a message, a list of parts, or a state of kind "agent-state"',
    );
  });

  const createGuard = (name: string) => stopWhen<AgentState>(name, () => false);
  test.each([
    ['two of one’s own', ['Closed', 'Closed'], ['Closed', 'Closed#2']],
    ['one like a built-in one', ['StepsLimit'], ['StepsLimit#2']],
    ['one like the check of calls', ['ToolCallPresenceCheck'], ['ToolCallPresenceCheck#2']],
  ])('no criteria of the same name, which get a number: %s', (_, names, listed) => {
    const agent = createAgent({ model: scriptedModel([]), criteria: names.map(createGuard) });
    expect(agent.describe().criteria.slice(-names.length)).toStrictEqual(listed);
  });

  test('nothing for a stop whose reason is no text: the state can be read', async () => {
    const { agent, start, clock } = setUp(scriptedModel([() => sleep(clock, 50).then(() => ({ toolCalls: [{ name: 'work' }], usage }))]), {
      tools: [work],
    });
    const running = agent.start(start);
    await clock.advance(10);
    running.requestStop({ why: 'lunch' } as never);
    await clock.advance(100);
    const { state } = await running.result;
    expect([state.status, state.stopReason]).toStrictEqual(['stopped', 'user_requested']);
    expect(throughJson(state).explain()).toContain('Stopped on request after step 1: stop was requested.');
  });

  test('a grant: the result says which limit ended the run, and that nothing more was granted', async () => {
    const { agent, start } = setUp(scriptedModel([{ toolCalls: [{ name: 'work' }], usage }]), {
      tools: [work],
      limits: { steps: 1, onLimit: 'pause' },
    });
    const waiting = await agent.start(start).result;
    const refused = throughJson(waiting.state.reject('grant/steps', 'too dear'));
    const result = await agent.start(refused).result;
    expect(result).toMatchObject({ status: 'stopped', stopReason: 'steps_limit' });
    expect(result.explain()).toContain('Somebody refused to grant more: too dear.');
  });
});
