// Sessions whose step ends the process each time it is resumed. A runtime that starts stands for the next process: nothing that the one
// before it does is stored any more.
import { describe, expect, test } from 'vitest';
import { toolResultText } from '../../src/messages/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { agentParticipant, createChat } from '../../src/chat/index.ts';
import { createAgent, defineHook, defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryPlace, StoreUnavailableError } from '../../src/sessions/index.ts';
import { pickSubjects } from '../support/test-scale.ts';
import type { Place } from './stage.ts';
import { ann, bob, dump, readActions, readEvents, places, refusal, stageOn, until } from './stage.ts';

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

function setUp(place: Place) {
  const stage = stageOn(place);
  /** Number of calls of the tool `slow`, by amount. */
  const calls: Record<number, number> = {};
  /** Calls of `slow` that end. All others hang until their process is gone. */
  const ending = new Set<number>();
  const hanging: { readonly amount: number; readonly end: (text: string) => void }[] = [];
  const slow = defineTool({
    name: 'slow',
    description: 'Ends the process.',
    input,
    effect: 'pure',
    run: ({ amount }) => {
      calls[amount] = (calls[amount] ?? 0) + 1;
      return ending.has(amount) ? 'done' : new Promise<string>((end) => hanging.push({ amount, end }));
    },
  });
  const agents = [stage.agent({ tools: [...Object.values(stage.tools).filter(({ name }) => name !== 'slow'), slow] })];
  const start = (more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime => stage.start({ agents, ...more });
  const send = async (runtime: EmbeddedRuntime, id: string, words: string): Promise<void> => {
    await runtime.create({ id }, { by: ann });
    void runtime.send(id, words, { by: ann, requestId: `of ${id}` }).catch(() => undefined);
  };
  /** Waits until this call of `slow` was made this many times. */
  const waitForCalls = (amount: number, times: number): Promise<unknown> => until(() => expect(calls[amount]).toBe(times));
  /** Starts processes, each of which ends while the call is open. */
  const crash = async (amount: number, times: number, more: Partial<SessionRuntimeOptions> = {}): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const before = calls[amount] ?? 0;
      start(more);
      await waitForCalls(amount, before + 1);
    }
  };
  /** Ends the calls that hang, and those to come. */
  const finish = (amount: number): void => {
    ending.add(amount);
    for (const call of hanging) if (call.amount === amount) call.end('done');
  };
  return { ...stage, calls, ending, start, send, called: waitForCalls, crash, finish };
}

const readResults = ({ state }: { readonly state: RunState }): readonly string[] =>
  state.messages
    .toArray()
    .flatMap(({ toolResults }) => toolResults.map(({ toolName, output }) => `${toolName}: ${toolResultText(output)}`));

function assertFailing(): never {
  throw new Error('the listener failed');
}

async function loop(place: Place) {
  const stage = setUp(place);
  await stage.send(stage.start(), 'one', 'note 1; slow 2; say End');
  await stage.called(2, 1);
  await stage.crash(2, 3);
  await stage.clock.advance(5000);
  const runtime = stage.start();
  await runtime.ready;
  await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
  return { ...stage, runtime };
}

describe.each(pickSubjects(places))('a step that ends the process, over %s', (_, makePlace) => {
  test('is resumed 3 times; then the session waits for a person', async () => {
    const { runtime, calls, clock, problems } = await loop(makePlace());
    expect(calls[2]).toBe(4);
    const session = await runtime.get('one');
    const since = clock.now();
    expect(session.waitingFor).toMatchObject([
      { type: 'person', id: 'crash-loop/2', reason: 'crash-loop', attempts: 3, since, sessionId: 'one' },
    ]);
    expect(session.state.waitingFor).toStrictEqual([{ type: 'person', id: 'crash-loop/2', reason: 'crash-loop', attempts: 3, since }]);
    expect(session.explain()).toBe(
      `Waiting in step 2 for a person since ${new Date(since).toISOString()}: the process ended in this step; it was resumed 3 times, and the process ended each time.\n` +
        'Next: Find out what ended the process, then resume or cancel the session.',
    );
    expect((await runtime.list({ status: 'waiting' })).sessions).toMatchObject([
      { id: 'one', waitingFor: [{ type: 'person', id: 'crash-loop/2', reason: 'crash-loop' }] },
    ]);
    expect(problems.map(String)).toStrictEqual([expect.stringContaining('CrashLoopError') as string]);
  });

  test('is not resumed by later processes, and nothing more is written', async () => {
    const { place, start, calls } = await loop(makePlace());
    const before = await dump(place.open());
    for (let time = 0; time < 3; time += 1) expect(await start().ready).toStrictEqual({ resumed: [], failed: [] });
    expect(calls[2]).toBe(4);
    expect(await dump(place.open())).toStrictEqual(before);
  });

  test('is told of by a stored event, behind those of the steps before', async () => {
    const { runtime } = await loop(makePlace());
    const events = await readEvents(runtime, 'one');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    expect(events.slice(-3)).toMatchObject([
      { type: 'CrashLoopDetected', attempts: 3, waitId: 'crash-loop/2', executionId: 'one/1', stepNumber: 2 },
      { type: 'AgentStateUpdated', status: 'waiting', stepCount: 1 },
      { type: 'AgentFinished', status: 'waiting', stepCount: 1 },
    ]);
  });

  test('gives a repeated request the waiting session', async () => {
    const { runtime } = await loop(makePlace());
    const result = await runtime.send('one', 'note 1; slow 2; say End', { by: ann, requestId: 'of one' });
    expect(result).toMatchObject({ status: 'waiting', isRepeated: true, waitingFor: [{ reason: 'crash-loop' }] });
  });

  test('is resumed by resume, once more and 3 times after that', async () => {
    const { runtime, calls, called, crash, start, ran } = await loop(makePlace());
    void runtime.resume('one', { by: bob }).catch(() => undefined);
    await called(2, 5);
    expect((await runtime.get('one')).waitingFor).toStrictEqual([]);
    await crash(2, 3);
    const next = start();
    await until(async () => expect((await next.get('one')).status).toBe('waiting'));
    expect([calls[2], ran]).toStrictEqual([8, ['note 1']]);
  });

  test('ends like any other once it has stopped ending the process', async () => {
    const { runtime, ending, ran } = await loop(makePlace());
    ending.add(2);
    const result = await runtime.resume('one', { by: bob });
    expect(result).toMatchObject({ status: 'completed', text: 'End', waitingFor: [], execution: 1 });
    expect(ran).toStrictEqual(['note 1']);
    const events = await readEvents(runtime, 'one');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    expect(events.filter(({ type }) => type === 'WaitResolved')).toMatchObject([
      { waitId: 'crash-loop/2', waitType: 'person', decision: 'resumed', by: bob, stepNumber: 2 },
    ]);
  });

  test('can be cancelled without being resumed', async () => {
    const { runtime, calls, place } = await loop(makePlace());
    const result = await runtime.cancel('one', 'it is poisoned', { by: bob });
    expect(result).toMatchObject({ status: 'stopped', stopReason: 'user_requested', waitingFor: [] });
    expect(result.explain()).toContain('it is poisoned');
    expect([calls[2], (await place.open().log.load('one'))?.effects]).toStrictEqual([4, []]);
    expect(await runtime.send('one', 'say Hello again', { by: ann })).toMatchObject({
      status: 'completed',
      text: 'Hello again',
      execution: 2,
    });
  });

  test('refuses everything else, and stores nothing of it', async () => {
    const { runtime, place } = await loop(makePlace());
    const [wait] = (await runtime.get('one')).waitingFor;
    if (wait === undefined) throw new Error('nothing waits');
    const before = await dump(place.open());
    for (const action of [
      runtime.send('one', 'Hello?', { by: ann }),
      runtime.approve('one', wait, { by: bob }),
      runtime.reject('one', wait, { by: bob }),
      runtime.answer('one', wait, { by: bob, value: 'go' }),
      runtime.grant('one', { steps: 1 }, { by: bob }),
    ]) {
      const { message } = await refusal(action, 'crash-loop');
      expect(message).toMatch(/^Session "one" is waiting for a person: step 2 was resumed 3 times, and the process ended each time\./);
      expect(message).toMatch(/Resume or cancel the session\.$/);
    }
    expect(await dump(place.open())).toStrictEqual(before);
  });

  test('keeps a message that came while it was open for the time after resume', async () => {
    const stage = setUp(makePlace());
    const first = stage.start();
    await stage.send(first, 'one', 'slow 1; say End');
    await stage.called(1, 1);
    await first.send('one', 'say Later', { by: bob, until: 'accepted', requestId: 'later' });
    await stage.crash(1, 3);
    const runtime = stage.start();
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    expect(await runtime.send('one', 'say Later', { by: bob, requestId: 'later' })).toMatchObject({ status: 'waiting', isRepeated: true });
    stage.ending.add(1);
    await runtime.resume('one', { by: bob });
    await until(async () => expect(await runtime.get('one')).toMatchObject({ status: 'completed', text: 'Later' }));
  });
});

describe.each(pickSubjects(places))('a cancel of a step that ends the process, over %s', (_, makePlace) => {
  /** Waits until the result of a call is stored. */
  async function whenKept({ place }: { readonly place: Place }): Promise<void> {
    const store = place.open();
    await until(async () => {
      const rows = (await store.log.load('one'))?.effects ?? [];
      expect(rows.some(({ key, phase }) => phase === 'result' && /tool\/\d+\/\d+$/.test(key))).toBe(true);
    });
  }

  test.each([0, 3])('records the calls that were done before it, with maxRecoveries: %i', async (maxRecoveries) => {
    const stage = setUp(makePlace());
    await stage.send(stage.start({ maxRecoveries }), 'one', 'note 1 & slow 2; say End');
    await stage.called(2, 1);
    await whenKept(stage);
    await stage.crash(2, maxRecoveries, { maxRecoveries });
    const runtime = stage.start({ maxRecoveries });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    const result = await runtime.cancel('one', 'it is poisoned', { by: bob });
    expect(result).toMatchObject({ status: 'stopped', stopReason: 'user_requested', waitingFor: [] });
    const session = await runtime.get('one');
    expect(readResults(session)).toStrictEqual(['note: note done', expect.stringMatching(/^slow: .*cancelled/) as string]);
    expect(session.explain()).toMatch(
      /^Cancelled by bob during step 1 while slow was running: it is poisoned\. The process ended in this step/,
    );
    const events = await readEvents(runtime, 'one');
    expect(events.filter(({ type }) => type === 'ToolCallCompleted')).toMatchObject([{ tool: 'note' }, { tool: 'slow' }]);
    expect(events.filter(({ type }) => type === 'WaitResolved' || type === 'CancelRequested')).toMatchObject([
      { type: 'WaitResolved', waitId: 'crash-loop/1', decision: 'cancelled', by: bob },
      { type: 'CancelRequested', reason: 'it is poisoned', by: bob },
    ]);
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    await runtime.send('one', 'say Hello again', { by: ann });
    expect(stage.ran).toStrictEqual(['note 1']);
    expect(JSON.stringify(stage.model.calls.at(-1)?.messages)).toContain('note done');
  });

  test('records a call that was done, also if it stands behind one that was not', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'slow 2 & note 1; say End');
    await stage.called(2, 1);
    await whenKept(stage);
    await until(() => expect(stage.ran).toStrictEqual(['note 1']));
    const runtime = stage.start({ maxRecoveries: 0 });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    await runtime.cancel('one', 'it is poisoned', { by: bob });
    expect(readResults(await runtime.get('one'))).toStrictEqual([expect.stringMatching(/^slow: .*cancelled/) as string, 'note: note done']);
    expect([stage.calls[2], stage.ran]).toStrictEqual([1, ['note 1']]);
  });

  test('records what was done if two people cancel at once', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'note 1 & slow 2; say End');
    await stage.called(2, 1);
    await whenKept(stage);
    const runtime = stage.start({ maxRecoveries: 0 });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    await Promise.all([runtime.cancel('one', 'it is poisoned', { by: bob }), runtime.cancel('one', 'no more', { by: ann })]);
    expect(readResults(await runtime.get('one'))[0]).toBe('note: note done');
  });

  test('is refused if the agent is not here that could replay the step, and the session still waits', async () => {
    const { start, agent, place, calls } = await loop(makePlace());
    const before = await dump(place.open());
    const other = start({ agents: [agent({ version: '2' })], onVersionChange: 'refuse' });
    await refusal(other.cancel('one', 'it is poisoned', { by: bob }), 'agent-changed');
    expect(await dump(place.open())).toStrictEqual(before);
    expect(calls[2]).toBe(4);
  });

  test('records a call of which only the beginning is known as unknown', async () => {
    const stage = setUp(makePlace());
    let paid = 0;
    const pay = defineTool({ name: 'note', description: 'Pays.', input, run: () => new Promise<string>(() => (paid += 1)) });
    const agents = [stage.agent({ tools: [pay] })];
    await stage.send(stage.start({ agents }), 'one', 'note 1; say End');
    await until(() => expect(paid).toBe(1));
    const runtime = stage.start({ agents, maxRecoveries: 0 });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    const result = await runtime.cancel('one', 'it is poisoned', { by: bob });
    expect(result.explain()).toContain('note was cut off and may or may not have taken effect.');
    expect(readResults(await runtime.get('one'))).toStrictEqual([expect.stringMatching(/may or may not/) as string]);
    expect(paid).toBe(1);
  });

  test.each(['a sub-agent', 'a participant of a chat'])('says what %s has done', async (what) => {
    const stage = setUp(makePlace());
    const tools = [stage.tools.note, stage.tools.slow];
    const helper = createAgent({ id: 'helper', model: stage.model, tools, ports: { clock: stage.clock, ids: stage.ids } });
    const ports = { clock: stage.clock, ids: stage.ids };
    const agents =
      what === 'a sub-agent'
        ? [stage.agent({ capabilities: [subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } })] })]
        : [createChat({ id: 'desk', participants: [agentParticipant({ name: 'helper', agent: helper })], ports })];
    const order = what === 'a sub-agent' ? 'spawn_subagent note 1 & spawn_subagent slow 2' : 'note 1; slow 2';
    await stage.send(stage.start({ agents }), 'one', order);
    await stage.gate.current.reached;
    const runtime = stage.start({ agents, maxRecoveries: 0 });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    expect(await runtime.cancel('one', 'it is poisoned', { by: bob })).toMatchObject({ status: 'stopped' });
    const session = await runtime.get('one');
    expect(session.explain()).toMatch(/slow.* may or may not have taken effect/);
    await runtime.send('one', 'say Hello again', { by: ann });
    expect(JSON.stringify(stage.model.calls.at(-1)?.messages)).toMatch(/note/);
    expect(stage.ran).toStrictEqual(['note 1']);
  });

  test('needs no context', async () => {
    const stage = setUp(makePlace());
    let isBroken = false;
    const context = (): object => {
      if (isBroken) throw new Error('no database');
      return {};
    };
    await stage.send(stage.start({ context }), 'one', 'note 1 & slow 2; say End');
    await stage.called(2, 1);
    await whenKept(stage);
    isBroken = true;
    const runtime = stage.start({ context, maxRecoveries: 0 });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    expect(await runtime.cancel('one', 'it is poisoned', { by: bob })).toMatchObject({ status: 'stopped' });
    expect(readResults(await runtime.get('one'))[0]).toBe('note: note done');
  });

  test('leaves hooks out once they have ended the process too, and what the calls returned is unknown', async () => {
    const stage = setUp(makePlace());
    let asked = 0;
    const hook = defineHook({ name: 'killer', afterTool: () => new Promise<undefined>(() => (asked += 1)) });
    const agents = [stage.agent({ tools: [stage.tools.note], hooks: [hook] })];
    const start = (): EmbeddedRuntime => stage.start({ agents, maxRecoveries: 0 });
    await stage.send(start(), 'one', 'note 1; say End');
    await until(() => expect(asked).toBe(1));
    await whenKept(stage);
    const second = start();
    await until(async () => expect((await second.get('one')).status).toBe('waiting'));
    void second.cancel('one', 'it is poisoned', { by: bob }).catch(() => undefined);
    await until(() => expect(asked).toBe(2));
    const third = start();
    await until(async () => expect((await third.get('one')).status).toBe('waiting'));
    expect(await third.cancel('one', 'end it', { by: bob })).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(readResults(await third.get('one'))).toStrictEqual([expect.stringMatching(/may or may not/) as string]);
    expect([asked, stage.ran]).toStrictEqual([2, ['note 1']]);
  });
});

test('a cancel while a step is replayed keeps what its calls had done', async () => {
  const stage = setUp(createMemoryPlace());
  const doors: (() => void)[] = [];
  const hook = defineHook({ name: 'doorkeeper', beforeTool: () => new Promise<undefined>((open) => doors.push(() => open(undefined))) });
  const agents = [stage.agent({ tools: [stage.tools.note], hooks: [hook] })];
  await stage.send(stage.start({ agents }), 'one', 'note 1 & note 2; say End');
  await until(() => expect(doors).toHaveLength(2));
  doors[0]?.();
  await until(() => expect(stage.ran).toStrictEqual(['note 1']));
  const runtime = stage.start({ agents });
  await until(() => expect(doors).toHaveLength(4));
  const cancelling = runtime.cancel('one', 'no more', { by: bob });
  await until(async () => expect((await readActions(stage.place.open(), 'one')).at(-1)?.type).toBe('cancel'));
  doors[3]?.();
  doors[2]?.();
  await cancelling;
  expect(readResults(await runtime.get('one'))).toStrictEqual(['note: note done', expect.stringMatching(/^note: .*cancelled/) as string]);
  expect(stage.ran).toStrictEqual(['note 1']);
});

describe.each(pickSubjects(places))('the count of resumptions, over %s', (_, makePlace) => {
  test('starts anew when a step is recorded', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'slow 1; slow 2; say End');
    await stage.called(1, 1);
    await stage.crash(1, 2);
    stage.ending.add(1);
    await stage.crash(2, 3);
    stage.ending.add(2);
    const runtime = stage.start();
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    expect(stage.calls).toStrictEqual({ 1: 4, 2: 4 });
  });

  test('is stored before the step is resumed', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'slow 1');
    await stage.called(1, 1);
    await stage.crash(1, 2);
    expect((await stage.place.open().log.load('one'))?.attempts).toBe(2);
  });

  test('leaves out a runtime that was drained while the step was open', async () => {
    const stage = setUp(makePlace());
    let runtime = stage.start();
    await stage.send(runtime, 'one', 'slow 1; say End');
    await stage.called(1, 1);
    for (let time = 2; time <= 6; time += 1) {
      const draining = runtime.drain({ timeoutMs: 100 });
      await stage.clock.advance(100);
      await draining;
      runtime = stage.start();
      await stage.called(1, time);
    }
    expect((await runtime.get('one')).status).toBe('in_progress');
    expect((await stage.place.open().log.load('one'))?.attempts).toBe(0);
  });

  test('goes on where it stood after a runtime that was drained', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'slow 1; say End');
    await stage.called(1, 1);
    await stage.crash(1, 1);
    const second = stage.start();
    await stage.called(1, 3);
    const draining = second.drain({ timeoutMs: 100 });
    await stage.clock.advance(100);
    await draining;
    await stage.crash(1, 2);
    const runtime = stage.start();
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    expect(stage.calls[1]).toBe(5);
  });

  test('includes a step that is resumed by somebody who acts before it is its turn', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'slow 1; say End');
    await stage.called(1, 1);
    for (let time = 1; time <= 3; time += 1) {
      void stage
        .start()
        .resume('one', { by: ann })
        .catch(() => undefined);
      await stage.called(1, time + 1);
    }
    const last = stage.start();
    await last.ready;
    expect(await last.get('one')).toMatchObject({ status: 'waiting', waitingFor: [{ reason: 'crash-loop', attempts: 3 }] });
    expect(stage.calls[1]).toBe(4);
  });

  test.each([
    [0, 1, 'the process ended in this step'],
    [1, 2, 'it was resumed once, and the process ended'],
    [5, 6, 'it was resumed 5 times, and the process ended each time'],
  ])('allows maxRecoveries: %i', async (maxRecoveries, calls, why) => {
    const stage = setUp(makePlace());
    await stage.send(stage.start({ maxRecoveries }), 'one', 'slow 1');
    await stage.called(1, 1);
    await stage.crash(1, maxRecoveries, { maxRecoveries });
    const runtime = stage.start({ maxRecoveries });
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    expect(stage.calls[1]).toBe(calls);
    expect((await runtime.get('one')).explain()).toContain(why);
  });

  test('is not looked at with maxRecoveries: Infinity', async () => {
    const stage = setUp(makePlace());
    await stage.send(stage.start(), 'one', 'slow 1');
    await stage.called(1, 1);
    await stage.crash(1, 6, { maxRecoveries: Number.POSITIVE_INFINITY });
    expect(stage.calls[1]).toBe(7);
  });

  test('is not raised by a store that failed: the process has not ended', async () => {
    const stage = setUp(makePlace());
    const store = stage.place.open();
    let isBroken = false;
    const runtime = stage.start({
      store: {
        ...store,
        log: {
          ...store.log,
          write: (write) => (isBroken ? Promise.reject(new StoreUnavailableError('failed', 'unplugged')) : store.log.write(write)),
        },
      },
    });
    await stage.send(runtime, 'one', 'slow 1; note 2; say End');
    await stage.called(1, 1);
    for (let time = 1; time <= 5; time += 1) {
      isBroken = true;
      await refusal(runtime.send('one', 'Hello?', { by: ann }), 'store-unavailable');
      isBroken = false;
      void runtime.resume('one', { by: ann }).catch(() => undefined);
      await stage.called(1, time + 1);
    }
    expect((await store.log.load('one'))?.attempts).toBe(0);
  });
});

test('a step that ends the process keeps its idempotency keys if the id of its session has a slash', async () => {
  const stage = stageOn(createMemoryPlace());
  const keys: string[] = [];
  let isEnding = false;
  const slow = defineTool({
    name: 'slow',
    description: 'Ends the process.',
    input,
    effect: 'idempotent',
    run: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return isEnding ? 'done' : new Promise<string>(() => undefined);
    },
  });
  const start = (): EmbeddedRuntime => stage.start({ agents: [stage.agent({ tools: [slow] })] });
  const first = start();
  await first.create({ id: 'a/b%c' }, { by: ann });
  void first.send('a/b%c', 'slow 1; say End', { by: ann }).catch(() => undefined);
  for (let time = 1; time <= 4; time += 1) {
    await until(() => expect(keys).toHaveLength(time));
    if (time < 4) start();
  }
  const last = start();
  await last.ready;
  expect((await last.get('a/b%c')).waitingFor).toMatchObject([{ reason: 'crash-loop' }]);
  isEnding = true;
  expect(await last.resume('a/b%c', { by: bob })).toMatchObject({ status: 'completed' });
  expect([keys.length, new Set(keys).size]).toStrictEqual([5, 1]);
  expect(new Set((await readEvents(last, 'a/b%c')).map(({ executionId }) => executionId)).size).toBe(1);
});

test.each([
  ['throws', () => assertFailing()],
  ['rejects', async () => assertFailing()],
])('a listener that %s is reported, and the session waits all the same', async (_, onEvent) => {
  const stage = setUp(createMemoryPlace());
  await stage.send(stage.start(), 'one', 'slow 1; say End');
  await stage.called(1, 1);
  await stage.crash(1, 3);
  const runtime = stage.start({ onEvent });
  expect(await runtime.ready).toStrictEqual({ resumed: [], failed: [] });
  expect((await runtime.get('one')).waitingFor).toMatchObject([{ reason: 'crash-loop' }]);
  await until(() => expect(stage.problems.filter((problem) => String(problem) === 'Error: the listener failed')).toHaveLength(3));
});

test.each([-1, 1.5, Number.NaN, '3'])('maxRecoveries: %s is refused', (maxRecoveries) => {
  const stage = stageOn(createMemoryPlace());
  expect(() => stage.start({ maxRecoveries: maxRecoveries as number })).toThrow(
    /maxRecoveries must be a whole number of 0 or more, or Infinity, not/,
  );
});

describe.each(pickSubjects(places))('other sessions, over %s', (_, makePlace) => {
  test('finish, also if their step takes longer than any process lives', async () => {
    const stage = setUp(makePlace());
    const runtime = stage.start();
    await stage.send(runtime, 'poison', 'slow 1; say End');
    await stage.send(runtime, 'long', 'slow 2; say End');
    await stage.send(runtime, 'short', 'look 1; look 2; say End');
    await Promise.all([stage.called(1, 1), stage.called(2, 1)]);
    // A process that still does something is not gone.
    await until(async () => expect((await runtime.get('short')).status).toBe('completed'));
    // Both are open in two processes that the poisoned one ends.
    for (const times of [2, 3]) {
      stage.start();
      await Promise.all([stage.called(1, times), stage.called(2, times)]);
    }
    // In the third one they are resumed one after the other: nobody is blamed for what another did.
    stage.start();
    await until(() => expect([stage.calls[1], stage.calls[2]].toSorted()).toStrictEqual([3, 4]));
    const isPoisonFirst = stage.calls[1] === 4;
    if (!isPoisonFirst) {
      stage.finish(2);
      await stage.called(1, 4);
    }
    const last = stage.start();
    if (isPoisonFirst) {
      await stage.called(2, 4);
      stage.finish(2);
    }
    await until(async () => expect((await last.get('long')).status).toBe('completed'));
    expect([(await last.get('poison')).status, (await last.get('short')).status]).toStrictEqual(['waiting', 'completed']);
    expect(stage.calls).toStrictEqual({ 1: 4, 2: 4 });
  });

  test('can be cancelled while they wait for the end of another attempt, and their step is not resumed', async () => {
    const stage = setUp(makePlace());
    const runtime = stage.start();
    for (const id of ['1', '2']) await stage.send(runtime, id, `slow ${id}; say End`);
    await Promise.all([stage.called(1, 1), stage.called(2, 1)]);
    for (const times of [2, 3]) {
      stage.start();
      await Promise.all([stage.called(1, times), stage.called(2, times)]);
    }
    const last = stage.start();
    await until(() => expect([stage.calls[1], stage.calls[2]].toSorted()).toStrictEqual([3, 4]));
    const waiting = stage.calls[1] === 3 ? 1 : 2;
    expect(await last.cancel(String(waiting), 'it takes too long', { by: bob })).toMatchObject({
      status: 'stopped',
      stopReason: 'user_requested',
    });
    expect(stage.calls[waiting]).toBe(3);
    stage.finish(3 - waiting);
    await until(async () => expect((await last.get(String(3 - waiting))).status).toBe('completed'));
  });
});
