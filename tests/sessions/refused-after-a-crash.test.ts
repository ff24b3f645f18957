// A process ends while a step is open, and the next one would not go on with it: its tool is gone, a hook fails or objects. What the calls
// of the step have done is recorded all the same, and nothing is paid again.
import { describe, expect, test } from 'vitest';
import { subAgents } from '../../src/capabilities/index.ts';
import { agentParticipant, createChat } from '../../src/chat/index.ts';
import type { Tool } from '../../src/entry/index.ts';
import { createAgent, defineClientTool, defineHook, defineTool, reActDriver } from '../../src/entry/index.ts';
import { toolResultText } from '../../src/messages/index.ts';
import type { SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { pickSubjects } from '../support/test-scale.ts';
import type { Place, Stage } from './stage.ts';
import { ann, bob, getWait, places, stageOn, until } from './stage.ts';

type Agents = NonNullable<SessionRuntimeOptions['agents']>;

const readResults = ({ messages }: RunState): readonly string[] =>
  messages.toArray().flatMap(({ toolResults }) => toolResults.map(({ toolName, output }) => `${toolName}: ${toolResultText(output)}`));

/** Waits until the result of a call is stored. */
async function whenKept({ place }: Stage): Promise<void> {
  const store = place.open();
  await until(async () => {
    const rows = (await store.log.load('s'))?.effects ?? [];
    expect(rows.some(({ key, phase }) => phase === 'result' && /tool\/\d+\/\d+$/.test(key))).toBe(true);
  });
}

const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;
const euros = { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'], additionalProperties: false } as const;

const note = (stage: Stage, more: { readonly input?: typeof amount | typeof euros; readonly needsApproval?: boolean }): Tool =>
  defineTool({ name: 'note', description: 'Notes.', input: amount, ...more, run: () => void stage.ran.push('again') });

const without = ({ tools }: Stage, ...names: readonly string[]): readonly Tool[] =>
  Object.values(tools).filter(({ name }) => !names.includes(name));

/** An agent that would not make the call of `note` any more. */
const changes: Readonly<Record<string, (stage: Stage) => Agents[number]>> = {
  'the tool is gone': (stage) => stage.agent({ version: '2', tools: without(stage, 'note') }),
  'the tool takes other arguments': (stage) =>
    stage.agent({ version: '2', tools: [...without(stage, 'note'), note(stage, { input: euros })] }),
  'the tool needs an approval': (stage) =>
    stage.agent({ version: '2', tools: [...without(stage, 'note'), note(stage, { needsApproval: true })] }),
  'the page runs the tool': (stage) =>
    stage.agent({
      version: '2',
      tools: [...without(stage, 'note'), defineClientTool({ name: 'note', description: 'Notes.', input: amount })],
    }),
  'a hook blocks the tool': (stage) =>
    stage.agent({ hooks: [defineHook({ name: 'guard', changes: ['block'], beforeTool: () => ({ block: 'no' }) })] }),
  'a hook fails before the tool': (stage) =>
    stage.agent({ hooks: [defineHook({ name: 'guard', beforeTool: () => Promise.reject(new Error('offline')) })] }),
  'a hook objects before the tool': (stage) =>
    stage.agent({
      hooks: [defineHook({ name: 'guard', changes: ['votes'], beforeTool: () => ({ votes: { decision: 'forbid', reason: 'closed' } }) })],
    }),
  'a hook objects before the step': (stage) =>
    stage.agent({
      hooks: [defineHook({ name: 'guard', changes: ['votes'], beforeStep: () => ({ votes: { decision: 'forbid', reason: 'closed' } }) })],
    }),
  'a hook fails before the step': (stage) =>
    stage.agent({ hooks: [defineHook({ name: 'guard', beforeStep: () => Promise.reject(new Error('offline')) })] }),
  'a hook fails before the model is asked': (stage) =>
    stage.agent({ hooks: [defineHook({ name: 'guard', beforeInference: () => Promise.reject(new Error('offline')) })] }),
  'a hook objects before the model is asked': (stage) =>
    stage.agent({
      hooks: [
        defineHook({ name: 'guard', changes: ['votes'], beforeInference: () => ({ votes: { decision: 'forbid', reason: 'closed' } }) }),
      ],
    }),
  'a hook fails after the model has answered': (stage) =>
    stage.agent({ hooks: [defineHook({ name: 'guard', afterInference: () => Promise.reject(new Error('offline')) })] }),
  'the instructions fail': (stage) =>
    stage.agent({
      instructions: () => {
        throw new Error('offline');
      },
    }),
};

/** A session whose process ended while `slow` was open and `note` was done, and the next process. */
async function crash(place: Place, change: (stage: Stage) => Agents[number], more: Partial<SessionRuntimeOptions> = {}) {
  const stage = stageOn(place);
  const first = stage.start();
  await first.create({ id: 's' }, { by: ann });
  void first.send('s', 'note 1 & slow 2; say End', { by: ann }).catch(() => undefined);
  await stage.gate.current.reached;
  await whenKept(stage);
  const runtime = stage.start({ agents: [change(stage)], ...more });
  await runtime.ready;
  return { ...stage, runtime };
}

describe.each(pickSubjects(places))('a call that was done before the process ended, over %s', (_, makePlace) => {
  test.each(Object.entries(changes))('is recorded by the next one: %s', async (_what, change) => {
    const { runtime, model, ran, start } = await crash(makePlace(), change);
    await until(async () => expect((await runtime.get('s')).status).not.toBe('in_progress'));
    const { state } = await runtime.get('s');
    expect(readResults(state)).toStrictEqual(['note: note done', expect.stringMatching(/^slow: .*may or may not/) as string]);
    await runtime.drain();
    // The next message knows of it, and does not make it again.
    const next = start();
    expect(await next.send('s', 'say More', { by: ann })).toMatchObject({ status: 'completed', text: 'More' });
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain('note done');
    expect(ran).toStrictEqual(['note 1']);
  });

  test.each(Object.entries(changes))('is recorded by a cancel of the next one: %s', async (_what, change) => {
    const { runtime, ran } = await crash(makePlace(), change, { maxRecoveries: 0 });
    const result = await runtime.cancel('s', 'it is poisoned', { by: bob });
    expect(result.status).not.toBe('waiting');
    expect(readResults((await runtime.get('s')).state)[0]).toBe('note: note done');
    expect(ran).toStrictEqual(['note 1']);
  });
});

test('a hook that fails still fails the step, and calls that were not begun are not made', async () => {
  const stage = stageOn(createMemoryPlace());
  const first = stage.start({ agents: [stage.agent({ toolConcurrency: 1 })] });
  await first.create({ id: 's' }, { by: ann });
  void first.send('s', 'note 1 & slow 2 & look 3; say End', { by: ann }).catch(() => undefined);
  await stage.gate.current.reached;
  await whenKept(stage);
  const hooks = [defineHook({ name: 'guard', beforeStep: () => Promise.reject(new Error('offline')) })];
  const runtime = stage.start({ agents: [stage.agent({ hooks })] });
  await until(async () => expect((await runtime.get('s')).status).toBe('failed'));
  const session = await runtime.get('s');
  expect(session.explain()).toContain('Hook "guard" failed at before_step: offline');
  expect(readResults(session.state)).toStrictEqual([
    'note: note done',
    expect.stringMatching(/^slow: .*may or may not/) as string,
    'look: The call was not made: Hook "guard" failed at before_step: offline',
  ]);
  expect(stage.model.calls).toHaveLength(1);
});

test('a failure of a call that is known is recorded as it was', async () => {
  const stage = stageOn(createMemoryPlace());
  const first = stage.start();
  await first.create({ id: 's' }, { by: ann });
  void first.send('s', 'broken 1 & slow 2; say End', { by: ann }).catch(() => undefined);
  await stage.gate.current.reached;
  await whenKept(stage);
  const runtime = stage.start({ agents: [stage.agent({ version: '2', tools: without(stage, 'broken') })] });
  await until(async () => expect((await runtime.get('s')).status).not.toBe('in_progress'));
  expect(readResults((await runtime.get('s')).state)[0]).toBe('broken: "broken" failed: out of order');
});

test('a person is asked about a call whose end nobody saw, also if its tool is gone', async () => {
  const { runtime, ran } = await crash(createMemoryPlace(), (stage) =>
    stage.agent({ version: '2', onUnknown: 'ask', tools: without(stage, 'slow') }),
  );
  await until(async () => expect((await runtime.get('s')).status).toBe('waiting'));
  expect(await getWait(runtime, 's')).toMatchObject({ type: 'unknown-call', toolName: 'slow' });
  expect(ran).toStrictEqual(['note 1']);
});

test('the ReAct driver reads the answer again too', async () => {
  const stage = stageOn(createMemoryPlace());
  const decision = { thought: 'Pay.', type: 'call_tool', tool: 'note', args: '{"amount":1}', answer: null };
  const model = scriptedModel([{ text: JSON.stringify(decision) }], { repeatLast: true });
  let paid = 0;
  const tool = defineTool({
    name: 'note',
    description: 'Notes.',
    input: amount,
    run: () => {
      paid += 1;
      return new Promise<string>(() => undefined);
    },
  });
  const ports = { clock: stage.clock, ids: stage.ids };
  const base = { id: 'desk', model, tools: [tool], driver: reActDriver(), ports };
  const first = stage.start({ agents: [createAgent(base)] });
  await first.create({ id: 's' }, { by: ann });
  void first.send('s', 'Pay.', { by: ann }).catch(() => undefined);
  await until(() => expect(paid).toBe(1));
  const hooks = [defineHook({ name: 'guard', beforeStep: () => Promise.reject(new Error('offline')) })];
  const runtime = stage.start({ agents: [createAgent({ ...base, hooks })] });
  await until(async () => expect((await runtime.get('s')).status).toBe('failed'));
  expect((await runtime.get('s')).explain()).toContain('note was cut off and may or may not have taken effect.');
  expect(paid).toBe(1);
});

describe('inside another run', () => {
  const createHelper = (stage: Stage, tools: readonly Tool[]) =>
    createAgent({ id: 'helper', model: stage.model, tools, ports: { clock: stage.clock, ids: stage.ids } });
  const withHelper = (stage: Stage, name: string) =>
    subAgents({ agents: { [name]: { agent: createHelper(stage, [stage.tools.note, stage.tools.slow]), description: 'Helps.' } } });

  async function crashInside(order: string, make: (stage: Stage, version: '1' | '2') => Agents[number]) {
    const stage = stageOn(createMemoryPlace());
    const first = stage.start({ agents: [make(stage, '1')] });
    await first.create({ id: 's' }, { by: ann });
    void first.send('s', order, { by: ann }).catch(() => undefined);
    await stage.gate.current.reached;
    await whenKept(stage);
    const runtime = stage.start({ agents: [make(stage, '2')] });
    await until(async () => expect((await runtime.get('s')).status).not.toBe('in_progress'));
    return { ...stage, session: await runtime.get('s') };
  }

  test.each([
    ['the sub-agents are gone', undefined],
    ['the sub-agent has another name', 'aide'],
  ])('a task that had begun is not said never to have been: %s', async (_, name) => {
    const { session, ran } = await crashInside('spawn_subagent note 1 & slow 2', (stage, version) =>
      version === '1' || name !== undefined
        ? stage.agent({ version, capabilities: [withHelper(stage, version === '1' ? 'helper' : (name ?? ''))] })
        : stage.agent({ version }),
    );
    expect(readResults(session.state)[0]).toMatch(/^spawn_subagent: .*may or may not have taken effect/);
    expect(ran).toStrictEqual(['note 1']);
  });

  test('a participant that lost its tool remembers the call', async () => {
    const { session, ran } = await crashInside('note 1 & slow 2; say End', (stage, version) => {
      const tools = version === '1' ? [stage.tools.note, stage.tools.slow] : [stage.tools.slow];
      const ports = { clock: stage.clock, ids: stage.ids };
      return createChat({
        id: 'desk',
        version,
        participants: [agentParticipant({ name: 'clerk', agent: createHelper(stage, tools) })],
        ports,
      });
    });
    expect(session.explain()).toContain('called note, slow (unknown)');
    expect(ran).toStrictEqual(['note 1']);
  });
});

describe('a call that was approved and done before the process ended', () => {
  /** Ends the process after the payment, and before the step is recorded. */
  async function approve(isInside: boolean, args?: { readonly amount: number }) {
    const stage = stageOn(createMemoryPlace());
    const { gate, tools, model, clock, ids } = stage;
    const hang = defineHook({
      name: 'hang',
      timeoutMs: Infinity,
      afterTool: () => {
        gate.current.reach();
        return new Promise<undefined>(() => undefined);
      },
    });
    const changed = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: euros,
      needsApproval: true,
      run: () => void stage.ran.push('again'),
    });
    const helper = createAgent({ id: 'helper', model, tools: [tools.pay], hooks: [hang], ports: { clock, ids } });
    const inside = subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } });
    const [before, after] = isInside
      ? [stage.agent({ version: '1', capabilities: [inside] }), stage.agent({ version: '2' })]
      : [stage.agent({ version: '1', tools: [tools.pay], hooks: [hang] }), stage.agent({ version: '2', tools: [changed] })];
    const first = stage.start({ agents: [before] });
    await first.create({ id: 's' }, { by: ann });
    await first.send('s', isInside ? 'spawn_subagent pay 5' : 'pay 5; say End', { by: ann });
    void first.approve('s', await getWait(first, 's'), { by: bob, ...(args && { args }) }).catch(() => undefined);
    await gate.current.reached;
    await whenKept(stage);
    const runtime = stage.start({ agents: [after], heartbeatClock: createFakeClock() });
    await until(async () => expect((await runtime.get('s')).status).toBe('completed'));
    return { ran: stage.ran, results: readResults((await runtime.get('s')).state) };
  }

  test('does not wait again if its arguments were edited and the tool takes others by now', async () => {
    const { ran, results } = await approve(false, { amount: 6 });
    expect([ran, results]).toStrictEqual([['pay 6'], ['pay: A person changed the arguments to {"amount":6}.\npay done']]);
  });

  test('has its result if the tool takes other arguments by now', async () => {
    expect(await approve(false)).toStrictEqual({ ran: ['pay 5'], results: ['pay: pay done'] });
  });

  test('may have been done if the sub-agents are gone', async () => {
    const { ran, results } = await approve(true);
    expect([ran, results]).toStrictEqual([['pay 5'], [expect.stringMatching(/^spawn_subagent: .*may or may not have taken effect/)]]);
  });
});
