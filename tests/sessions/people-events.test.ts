// What people do becomes events: a page can be built from events alone.
import { describe, expect, test } from 'vitest';
import { readField } from '../../src/lib/index.ts';
import { createAgent, Message } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, StoredEvent } from '../../src/sessions/index.ts';
import { CancelRequested, createSessionRuntime, LimitsGranted, UserMessageReceived, WaitResolved } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { pickSubjects } from '../support/test-scale.ts';
import { chatStageOn } from './chat-stage.ts';
import { createMortality, mortalStore } from './mortal-process.ts';
import type { Stage } from './stage.ts';
import { ann, bob, createGate, readEvents, newProcess, places, refusal, stageOn, until, getWait } from './stage.ts';

const ofPeople = new Set(['UserMessageReceived', 'WaitResolved', 'LimitsGranted', 'CancelRequested']);
const unnumbered = new Set(['TextDelta', 'ReasoningDelta', 'ToolCallProgress']);

const listPeople = async (runtime: EmbeddedRuntime): Promise<readonly StoredEvent[]> =>
  (await readEvents(runtime, 'one')).filter(({ type }) => ofPeople.has(type));

function expectDense(events: readonly StoredEvent[]): void {
  expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
}

/** A runtime whose listener notes all numbered events as plain data. */
function listen(stage: Stage, more: Parameters<Stage['start']>[0] = {}) {
  const heard: StoredEvent[] = [];
  const onEvent = (event: { readonly type: string }): void => {
    if (!unnumbered.has(event.type)) heard.push(JSON.parse(JSON.stringify(event)) as StoredEvent);
  };
  return { runtime: stage.start({ onEvent, ...more }), heard };
}

const withoutDigest = ({ digest: _, ...event }: StoredEvent & { readonly digest?: string }): unknown => event;

async function expectHeard(runtime: EmbeddedRuntime, heard: readonly StoredEvent[]): Promise<void> {
  const stored = await readEvents(runtime, 'one');
  expectDense(stored);
  expect(stored.map(withoutDigest)).toStrictEqual(heard);
}

describe.each(pickSubjects(places))('events of people over %s', (_, makePlace) => {
  test('name who wrote, approved, rejected and answered, and what the assistant said', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 1 & pay 2; ask 3; say End', { by: ann });
    const [first, second] = (await runtime.get('one')).waitingFor;
    await runtime.approve('one', first as never, { by: bob, args: { amount: 5 }, until: 'accepted' });
    await runtime.reject('one', second as never, { by: bob, reason: 'too much' });
    await runtime.answer('one', await getWait(runtime, 'one'), { by: ann, value: 'here' });
    const people = await listPeople(runtime);
    expect(people).toMatchObject([
      { type: 'UserMessageReceived', by: ann, text: 'pay 1 & pay 2; ask 3; say End', executionId: 'one/1', stepNumber: 0 },
      { type: 'WaitResolved', by: bob, waitType: 'approval', toolName: 'pay', decision: 'approved', edited: true, stepNumber: 1 },
      { type: 'WaitResolved', by: bob, waitId: second?.id, decision: 'rejected', reason: 'too much', edited: false, stepNumber: 1 },
      { type: 'WaitResolved', by: ann, waitType: 'client-tool', toolName: 'ask', decision: 'answered', stepNumber: 2 },
    ]);
    expect(people[0]).not.toHaveProperty('content');
    const { state } = await runtime.get('one');
    expect(readField(people[0], 'messageId')).toBe(state.messages.at(0)?.id);
    const ended = (await readEvents(runtime, 'one')).filter((event) => event.type === 'AgentStepCompleted');
    expect(ended.map(({ text }) => text)).toStrictEqual(['', '', 'End']);
    expect(ended.at(-1)?.messageId).toBe(state.messages.at(-1)?.id);
    await expectHeard(runtime, heard);
  });

  test('tell of a grant and of a refused one', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage, { agents: [stage.agent({ limits: { steps: 1, onLimit: 'pause' } })] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; look 2; say End', { by: ann });
    await runtime.grant('one', { steps: 1 }, { by: bob });
    await runtime.reject('one', await getWait(runtime, 'one'), { by: bob, reason: 'enough' });
    expect((await listPeople(runtime)).slice(1)).toMatchObject([
      { type: 'LimitsGranted', by: bob, amounts: { steps: 1 }, executionId: 'one/1' },
      { type: 'WaitResolved', by: bob, waitId: 'grant/steps', waitType: 'grant', decision: 'granted' },
      { type: 'WaitResolved', by: bob, waitId: 'grant/steps', decision: 'rejected', reason: 'enough' },
    ]);
    await expectHeard(runtime, heard);
  });

  test('resolve every open wait when a message supersedes it, and when somebody cancels', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 1 & pay 2', { by: ann });
    await runtime.send('one', 'pay 3', { by: bob });
    await runtime.cancel('one', 'no more', { by: ann });
    expect((await listPeople(runtime)).slice(1)).toMatchObject([
      { type: 'UserMessageReceived', by: bob, text: 'pay 3', executionId: 'one/2' },
      { type: 'WaitResolved', by: bob, decision: 'superseded', toolName: 'pay', executionId: 'one/1', stepNumber: 1 },
      { type: 'WaitResolved', by: bob, decision: 'superseded', toolName: 'pay', executionId: 'one/1', stepNumber: 1 },
      { type: 'CancelRequested', by: ann, reason: 'no more', executionId: 'one/2', stepNumber: 1 },
      { type: 'WaitResolved', by: ann, decision: 'cancelled', reason: 'no more', executionId: 'one/2' },
    ]);
    await expectHeard(runtime, heard);
  });

  test.each(['reject', 'approve'] as const)('tell that an approval expired, if that means to %s', async (whenExpired) => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage, { approvals: { expireAfterMs: 1000, whenExpired } });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 1', { by: ann });
    await stage.clock.advance(1000);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    const decision = whenExpired === 'reject' ? 'expired' : 'approved';
    expect((await listPeople(runtime)).at(-1)).toMatchObject({ type: 'WaitResolved', decision, by: { kind: 'system', id: 'expiry' } });
    await expectHeard(runtime, heard);
  });

  test('of messages that come during a step are there when they are applied, not before', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    const sending = runtime.send('one', 'slow 1; look 2; say End', { by: ann });
    await stage.gate.current.reached;
    await runtime.send('one', 'say Other', { by: bob, until: 'accepted' });
    expect(await listPeople(runtime)).toHaveLength(1);
    expect(heard.filter((event) => event.type === 'UserMessageReceived')).toHaveLength(1);
    stage.gate.current.open();
    await sending;
    const events = await readEvents(runtime, 'one');
    const joined = events.findIndex((event) => event.type === 'UserMessageReceived' && event.text === 'say Other');
    expect(events[joined]).toMatchObject({ text: 'say Other', stepNumber: 1 });
    expect(events[joined + 1]).toMatchObject({ type: 'AgentStepStarted', stepNumber: 2 });
    await expectHeard(runtime, heard);
  });

  test('of a message that joins before the first step follow what the run has emitted', async () => {
    const stage = stageOn(makePlace());
    const gate = createGate();
    const context = async (): Promise<object> => {
      gate.reach();
      await gate.passed;
      return {};
    };
    const { runtime, heard } = listen(stage, { context });
    await runtime.create({ id: 'one' }, { by: ann });
    const sending = runtime.send('one', 'look 1; say End', { by: ann });
    await gate.reached;
    await runtime.send('one', 'look 2; say Other', { by: bob, until: 'accepted' });
    gate.open();
    await sending;
    const events = await readEvents(runtime, 'one');
    expect(events.slice(0, 4).map(({ type }) => type)).toStrictEqual([
      'UserMessageReceived',
      'AgentExecutionStarted',
      'UserMessageReceived',
      'AgentStepStarted',
    ]);
    await expectHeard(runtime, heard);
    // Each of the two stands with the entry that made it so.
    const entries = await stage.place.open().log.entries('one');
    expect(
      entries.filter(({ events: text = '' }) => text.includes('AgentExecutionStarted') && text.includes('UserMessageReceived')),
    ).toHaveLength(1);
  });

  test('tell who cancelled a run, once, before its end', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    const sending = runtime.send('one', 'slow 1; say End', { by: ann });
    await stage.gate.current.reached;
    await runtime.cancel('one', 'too slow', { by: bob });
    await sending;
    const events = await readEvents(runtime, 'one');
    const cancels = events.filter(({ type }) => type === 'CancelRequested');
    expect(cancels).toMatchObject([{ by: bob, reason: 'too slow', executionId: 'one/1', stepNumber: 1 }]);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', stopReason: 'user_requested' });
    await expectHeard(runtime, heard);
    // The record that ends the run applies the cancel: nothing is left to do after it.
    const last = (await stage.place.open().log.entries('one')).at(-1);
    expect([last?.events?.includes('CancelRequested'), last?.body.includes('"applied"')]).toStrictEqual([true, true]);
  });

  test('tell of a cancel that came before the run could start', async () => {
    const stage = stageOn(makePlace());
    const gate = createGate();
    const first = stage.start({
      context: async () => {
        gate.reach();
        await gate.passed;
        return {};
      },
    });
    await first.create({ id: 'one' }, { by: ann });
    await first.send('one', 'look 1', { by: ann, until: 'accepted' });
    await gate.reached;
    await first.cancel('one', 'never mind', { by: bob, until: 'accepted' });
    const { runtime } = listen(stage);
    await until(async () => expect((await runtime.get('one')).stopReason).toBe('user_requested'));
    const events = await readEvents(runtime, 'one');
    expectDense(events);
    expect(events.filter(({ type }) => type === 'CancelRequested')).toMatchObject([{ by: bob, reason: 'never mind' }]);
    expect(events.at(-1)?.type).toBe('AgentFinished');
  });

  test('are not made by actions that change nothing', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'say End', { by: ann, requestId: 'a' });
    const before = await readEvents(runtime, 'one');
    await runtime.send('one', 'say End', { by: ann, requestId: 'a' });
    await runtime.resume('one', { by: ann });
    await runtime.cancel('one', 'too late', { by: ann });
    await refusal(runtime.reject('one', { id: 'nothing' }, { by: ann }), 'not-waiting');
    expect(await readEvents(runtime, 'one')).toStrictEqual(before);
  });

  test('show the text of a step that waits, and do not store a text twice', async () => {
    const stage = stageOn(makePlace());
    const long = 'wait a moment '.repeat(40);
    const model = scriptedModel([{ text: `First ${long}`, toolCalls: [{ name: 'pay', args: { amount: 1 } }] }, `Then ${long}`]);
    const { tools, clock, ids } = stage;
    const runtime = stage.start({ agents: [createAgent({ id: 'desk', model, tools: [tools.pay], ports: { clock, ids } })] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', `Question ${long}`, { by: ann });
    const waiting = (await readEvents(runtime, 'one')).findLast(({ type }) => type === 'AgentStateUpdated');
    expect(waiting).toMatchObject({ status: 'waiting', text: `First ${long}` });
    await runtime.approve('one', await getWait(runtime, 'one'), { by: bob });
    const events = await readEvents(runtime, 'one');
    const texts = events.flatMap((event) => ('messageId' in event && 'text' in event ? [[event.type, event.text]] : []));
    expect(texts).toStrictEqual([
      ['UserMessageReceived', `Question ${long}`],
      ['AgentStateUpdated', `First ${long}`],
      ['AgentStepCompleted', `First ${long}`],
      ['AgentStepCompleted', `Then ${long}`],
    ]);
    expect(events.find((event) => event.type === 'AgentStepCompleted')?.messageId).toBe(readField(waiting, 'messageId'));
    const entries = await stage.place.open().log.entries('one');
    expect(entries.map(({ events: text = '' }) => text).join('')).not.toContain('wait a moment');
  });

  test('keep the parts of a message that is not plain text, also if it joined later', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listen(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    const parts = [{ type: 'text', text: 'say Nice' } as const, { type: 'image', data: 'aGVsbG8=', mediaType: 'image/png' } as const];
    const sending = runtime.send('one', 'slow 1', { by: ann });
    await stage.gate.current.reached;
    await runtime.send('one', Message.user(parts, { id: 'm-1' }), { by: ann, until: 'accepted' });
    stage.gate.current.open();
    await sending;
    const [, joined] = await listPeople(runtime);
    expect(joined).toMatchObject({ messageId: 'm-1', text: 'say Nice', content: parts });
    await expectHeard(runtime, heard);
    // A runtime that reads it from the store only says the same.
    expect((await readEvents(stage.start(), 'one')).map(withoutDigest)).toStrictEqual(heard);
  });

  test('of a chat hold what each participant said, people included', async () => {
    const stage = chatStageOn(makePlace());
    const runtime = await stage.open({ participants: [stage.boss, stage.echo] });
    await runtime.send('one', 'Hello', { by: ann });
    await runtime.answer('one', await getWait(runtime, 'one'), { by: bob, value: 'Good day' });
    const events = await readEvents(runtime, 'one');
    const said = events.filter((event) => event.type === 'AgentStepCompleted').map(({ participant, text }) => [participant, text]);
    expect(said).toStrictEqual([
      ['boss', 'Good day'],
      ['echo', 'echo of Good day'],
    ]);
    expect(events.find(({ type }) => type === 'WaitResolved')).toMatchObject({ waitType: 'person', decision: 'answered', by: bob });
  });
});

describe('events of people, and a process that dies', () => {
  interface Lived {
    readonly moments: readonly string[];
    readonly events: readonly StoredEvent[];
    /** Rows stored after each life. */
    readonly kept: readonly (readonly StoredEvent[])[];
  }

  /** A message during a step, an approval, and a cancel of a run, by clients that ask again after each death. */
  async function live(deaths: readonly number[]): Promise<Lived> {
    const [, makePlace] = places[0] as (typeof places)[number];
    const stage = stageOn(makePlace());
    const mortality = createMortality({ deaths });
    const kept: (readonly StoredEvent[])[] = [];
    for (;;) {
      const process = mortality.start();
      stage.gate.current = createGate();
      const { clock, ids } = stage;
      // The second message comes before the first step has ended, in every life.
      const isSaid = createGate();
      const { look } = stage.tools;
      const slowLook: typeof look = { ...look, run: async (args, call) => isSaid.passed.then(() => look.run(args, call)) };
      const agents = [stage.agent({ tools: Object.values({ ...stage.tools, look: slowLook }) })];
      const options = { ...newProcess, maxRecoveries: Number.POSITIVE_INFINITY, agents, clock, ids };
      const runtime = createSessionRuntime({ ...options, store: mortalStore(stage.place.open(), process), onProblem: () => undefined });
      const act = async (): Promise<'done'> => {
        await runtime.create({ id: 'one' }, { by: ann, requestId: 'make' });
        await runtime.send('one', 'look 1; pay 2; slow 3; say End', { by: ann, requestId: 'go', until: 'accepted' });
        await runtime.send('one', 'pay 2; slow 3; say End', { by: bob, requestId: 'more', until: 'accepted' });
        isSaid.open();
        const wait = await until(async () => {
          const { waitingFor, status, events } = { ...(await runtime.get('one')), events: await readEvents(runtime, 'one') };
          const isOver = status === 'stopped' || status === 'completed' || events.some(({ type }) => type === 'WaitResolved');
          if (waitingFor.length === 0 && !isOver) throw new Error('not yet');
          return waitingFor[0];
        });
        if (wait !== undefined) await runtime.approve('one', wait as never, { by: bob, requestId: 'yes', until: 'accepted' });
        await Promise.race([
          stage.gate.current.reached,
          until(async () => expect((await runtime.get('one')).status).toBe('stopped')),
          // An unknown end of the slow call takes the run to its end.
          until(async () => expect((await runtime.get('one')).status).toBe('completed')),
        ]).catch(() => undefined);
        await runtime.cancel('one', 'enough', { by: ann, requestId: 'stop' });
        return 'done';
      };
      const acting = act();
      acting.catch(() => undefined);
      const end = await Promise.race([acting, process.died]);
      const reader = stage.start({ store: stage.place.open(), role: 'client' });
      kept.push(await readEvents(reader, 'one').catch(() => []));
      if (end === 'done') return { moments: mortality.moments, events: await readEvents(runtime, 'one'), kept };
    }
  }

  test('have dense numbers, keep those that they had, and are told once each', async () => {
    const quiet = await live([]);
    const inShort = (events: readonly StoredEvent[]): readonly string[] =>
      events.flatMap((event) =>
        'by' in event && ofPeople.has(event.type) ? JSON.stringify([event.type, event.by, readField(event, 'decision')]) : [],
      );
    expect(inShort(quiet.events)).toStrictEqual([
      JSON.stringify(['UserMessageReceived', ann, undefined]),
      JSON.stringify(['UserMessageReceived', bob, undefined]),
      JSON.stringify(['WaitResolved', bob, 'approved']),
      JSON.stringify(['CancelRequested', ann, undefined]),
    ]);
    const writes = quiet.moments.flatMap((label, index) => (/write/.test(label) ? [index + 1] : []));
    expect(writes.length).toBeGreaterThan(20);
    for (const death of writes) {
      const { events, kept } = await live([death]);
      expectDense(events);
      for (const before of kept) expect(events.slice(0, before.length)).toStrictEqual(before);
      // If the call that was cut off has ended meanwhile, there may be nothing left to cancel.
      const people = inShort(events);
      expect(new Set(people).size, `after a death at ${death}`).toBe(people.length);
      expect(people.slice(0, 3)).toStrictEqual(inShort(quiet.events).slice(0, 3));
    }
  }, 60_000);
});

test('each event says in plain words who did what', () => {
  const header = { id: 'e', seq: 1, at: 0, agentId: 'a', executionId: 'x', stepNumber: 0 };
  const wait = { type: 'approval', id: 'w', toolName: 'pay', args: {} } as const;
  expect([
    new UserMessageReceived(header, ann, { messageId: 'm', text: 'Hello' }).describe(),
    new LimitsGranted(header, bob, { steps: 5, tokens: 100 }).describe(),
    new CancelRequested(header, bob, 'too slow').describe(),
    new WaitResolved(header, bob, { wait, decision: 'approved', edited: true }).describe(),
    new WaitResolved(header, bob, { wait, decision: 'rejected', reason: 'no' }).describe(),
    new WaitResolved(header, ann, { wait, decision: 'superseded' }).describe(),
    new WaitResolved(header, { id: 'expiry', kind: 'system' }, { wait, decision: 'expired', reason: 'nobody answered' }).describe(),
  ]).toMatchInlineSnapshot(`
    [
      "user ann wrote "Hello"",
      "staff bob granted 5 more steps and 100 more tokens",
      "staff bob cancelled: too slow",
      "staff bob approved pay (w) with other arguments",
      "staff bob rejected pay (w): no",
      "a message of user ann replaced the wait for pay (w)",
      "nobody answered pay (w) in time: nobody answered",
    ]
  `);
});
