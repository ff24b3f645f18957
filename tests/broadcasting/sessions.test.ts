import { describe, expect, it, vi } from 'vitest';
import type { EventEnvelope } from '../../src/broadcasting/index.ts';
import { AgentEventEnvelopeAdapter, createEnvelopeMapper } from '../../src/broadcasting/index.ts';
import { defineTool } from '../../src/entry/index.ts';
import type { BaseEvent } from '../../src/events/index.ts';
import type { SessionEvent } from '../../src/sessions/core/action-events.ts';
import type { SessionFacts, SessionStore } from '../../src/sessions/index.ts';
import {
  ApprovalRevoked,
  CancelRequested,
  CrashLoopDetected,
  createMemoryPlace,
  LimitsGranted,
  StoreUnavailableError,
  UserMessageReceived,
  WaitResolved,
} from '../../src/sessions/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { ann, bob, createGate, getWait, readEvents, stageOn, until } from '../sessions/stage.ts';
import type { KeepingTransport } from '../support/envelopes.ts';
import { createKeepingTransport, expectChain, toEnvelopeProblems } from '../support/envelopes.ts';

const isProvisional = ({ provisional }: EventEnvelope): boolean => provisional === true;
const isPiece = ({ event }: EventEnvelope): boolean => event === 'agent.stream.chunk' || event === 'agent.tool.progress';

function setUp() {
  const stage = stageOn(createMemoryPlace());
  const transport = createKeepingTransport();
  const broadcast = (to: KeepingTransport) => new AgentEventEnvelopeAdapter(to, { clock: stage.clock }).broadcast;
  return { stage, transport, broadcast, runtime: stage.start({ onEvent: broadcast(transport) }) };
}

describe('the envelopes of a session', () => {
  it('are sent at once as provisional, and again with their number once the step is stored', async () => {
    const { transport, runtime } = setUp();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1 & broken 2; say End', { by: ann });
    const events = transport.events();
    const open = events.filter((each) => isProvisional(each) && !isPiece(each));
    expect(open.map(({ event }) => event)).toContain('agent.tool.started');
    for (const { provisional: _, ...envelope } of open) {
      const later = events.slice(events.findIndex((each) => each.attempt === envelope.attempt && each.index === envelope.index) + 1);
      const confirmed = later.find(
        ({ seq, index, event, part, execution_id, data }) =>
          seq !== undefined &&
          index === envelope.index &&
          event === envelope.event &&
          part === envelope.part &&
          execution_id === envelope.execution_id &&
          JSON.stringify(data) === JSON.stringify(envelope.data),
      );
      expect(confirmed).toMatchObject(envelope);
    }
    for (const envelope of open) expect(envelope).not.toHaveProperty('seq');
  });

  it('of an approval are enough to give it, before and after it is stored', async () => {
    const { transport, runtime } = setUp();
    for (const isStored of [false, true]) {
      const id = isStored ? 'stored' : 'a/open';
      await runtime.create({ id }, { by: ann });
      await runtime.send(id, 'pay 3; say End', { by: ann });
      const asked = transport
        .events()
        .find(
          ({ event, session_id, seq }) =>
            event === 'agent.tool.approval_requested' && session_id === id && (seq !== undefined) === isStored,
        );
      // Holds: an approval that is asked for has both.
      const { wait_id, digest } = asked?.data as { readonly wait_id: string; readonly digest: string };
      expect(await runtime.approve(id, { id: wait_id, digest }, { by: bob })).toMatchObject({ status: 'completed' });
    }
  });

  it('with a number are those of the stored events, in the same order, each once', async () => {
    const { transport, runtime } = setUp();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; pay 3; say End', { by: ann });
    await runtime.approve('one', await getWait(runtime, 'one'), { by: bob });
    await runtime.send('one', 'ask 1', { by: ann });
    await runtime.cancel('one', 'enough', { by: ann });
    const mapper = createEnvelopeMapper();
    let prevSeq = 0;
    const stored = (await readEvents(runtime, 'one')).flatMap((event) => {
      const envelopes = mapper.toEnvelopes(event, { prevSeq });
      if (envelopes.length > 0) prevSeq = event.seq;
      return envelopes;
    });
    const bare = ({ attempt: _, index: __, ...envelope }: EventEnvelope): unknown => envelope;
    const numbered = transport.events().filter(({ seq }) => seq !== undefined);
    expect(numbered.map(bare)).toStrictEqual(stored.map(bare));
    expectChain(numbered);
    expect(stored.flatMap(toEnvelopeProblems)).toStrictEqual([]);
    expect(stored.find(({ event }) => event === 'agent.tool.approval_requested')?.data).toMatchObject({
      digest: expect.any(String) as string,
    });
    const names = new Set(numbered.map(({ event }) => event));
    for (const name of ['agent.message', 'agent.wait.resolved', 'agent.status', 'agent.tool.approval_requested'])
      expect(names).toContain(name);
    expect(numbered.at(-1)).toMatchObject({ event: 'agent.status', data: { status: 'stopped', stop_reason: 'user_requested' } });
  });

  it('of a step that another process resumes have a later attempt, and what the first one sent is void', async () => {
    const { stage, transport, broadcast, runtime } = setUp();
    await runtime.create({ id: 'one' }, { by: ann });
    // Ends with the process.
    runtime.send('one', 'slow 1; say End', { by: ann }).catch(() => undefined);
    await stage.gate.current.reached;
    const before = transport.events().filter(isProvisional);
    expect(new Set(before.map(({ attempt }) => attempt))).toStrictEqual(new Set([1]));

    stage.gate.current = createGate();
    const second = createKeepingTransport();
    const next = stage.start({ onEvent: broadcast(second) });
    await next.ready;
    stage.gate.current.open();
    await next.resume('one', { by: ann });
    const started = second.events().filter(({ event, data }) => event === 'agent.step.started' && data['step_number'] === 1);
    expect(started).toMatchObject([
      { provisional: true, attempt: 2, data: { resumed: true } },
      { seq: expect.any(Number) as number, attempt: 2, data: { resumed: true } },
    ]);
    const voids = second.events().filter(({ event }) => event === 'agent.stream.void');
    expect(voids.map(({ data }) => data)).toStrictEqual(voids.map(() => ({ step_number: 1, scope: 'attempt', attempt: 1 })));
    expect(voids.some(({ seq }) => seq !== undefined)).toBe(true);
  });

  it('of several sessions go to channels of their own', async () => {
    const { transport, runtime } = setUp();
    for (const id of ['one', 'two']) await runtime.create({ id }, { by: ann });
    await Promise.all(['one', 'two'].map((id) => runtime.send(id, 'look 1; say End', { by: ann })));
    for (const id of ['one', 'two']) {
      const own = transport.sent.filter(({ channel }) => channel === `agent.${id}`).flatMap(({ envelopes }) => envelopes);
      expect(new Set(own.map(({ session_id }) => session_id))).toStrictEqual(new Set([id]));
      expectChain(own.filter(({ event }) => event !== 'agent.head') as readonly EventEnvelope[]);
    }
  });

  it('that are read from the store give the same under the same preset, wherever reading begins', async () => {
    const { runtime } = setUp();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; broken 2; say End', { by: ann });
    const events = await readEvents(runtime, 'one');
    for (const preset of ['minimal', 'standard', 'debug'] as const) {
      const mapper = createEnvelopeMapper({ preset });
      for (const event of events) {
        const earlier = events.filter((each) => each.seq < event.seq && mapper.hasSeq(each));
        const prevSeq = earlier.at(-1)?.seq ?? 0;
        const envelopes = mapper.toEnvelopes(event, { prevSeq });
        expect(envelopes.flatMap(toEnvelopeProblems)).toStrictEqual([]);
        expect(envelopes.length > 0).toBe(mapper.hasSeq(event));
        if (preset === 'debug') expect(envelopes.length).toBeGreaterThan(0);
      }
    }
  });
});

/** A store whose next writes of a completed step fail. */
function failSteps(store: SessionStore, times: number): SessionStore {
  let left = times;
  const write: SessionStore['log']['write'] = (batch) => {
    if (left === 0 || !JSON.stringify(batch).includes('AgentStepCompleted')) return store.log.write(batch);
    left -= 1;
    return Promise.reject(new StoreUnavailableError('full', 'the disk is full'));
  };
  return { ...store, log: { ...store.log, write } };
}

describe('the envelopes of a step that is run again after the store failed', () => {
  it.each([1, 2])('are confirmed once, as a later attempt, and those before are void (failures: %i)', async (failures) => {
    const stage = stageOn(createMemoryPlace());
    const transport = createKeepingTransport();
    const adapter = new AgentEventEnvelopeAdapter(transport, { clock: createFakeClock() });
    const runtime = stage.start({ store: failSteps(stage.place.open(), failures), onEvent: adapter.broadcast });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; say End', { by: ann }).catch(() => undefined);
    await vi.waitFor(async () => {
      await stage.clock.advance(5000);
      expect((await runtime.get('one')).status).toBe('completed');
    });
    const events = transport.events();
    const numbered = events.filter(({ seq }) => seq !== undefined);
    const keys = numbered.map(({ seq, part }) => `${String(seq)}/${part}`);
    expect(keys).toStrictEqual([...new Set(keys)]);
    expectChain(numbered);

    const firstStep = events.slice(
      0,
      events.findIndex(({ event }) => event === 'agent.step.completed'),
    );
    const places = firstStep.filter(isProvisional).filter(({ event }) => event !== 'agent.stream.void');
    const ids = places.map(({ attempt, index, part }) => `${String(attempt)}/${String(index)}/${part}`);
    expect(ids).toStrictEqual([...new Set(ids)]);
    const voids = events.filter(({ event }) => event === 'agent.stream.void');
    const attempts = Array.from({ length: failures }, (_, index) => index + 1);
    expect(voids).toMatchObject(
      attempts.map((attempt) => ({ provisional: true, execution_id: 'one/1', data: { step_number: 1, scope: 'attempt', attempt } })),
    );
    const confirmed = numbered.filter(({ event }) => event === 'agent.step.started');
    expect(confirmed.map(({ attempt }) => attempt)).toStrictEqual([failures + 1, 1]);
    await runtime.drain();
    adapter.close();
  });
});

describe('the envelopes of a step that failed to be stored', () => {
  it('are void if an action is stored first, and the step that is run again after it is a later attempt', async () => {
    const stage = stageOn(createMemoryPlace());
    const emitted: (readonly [BaseEvent, SessionFacts])[] = [];
    const runtime = stage.start({ onEvent: (event, session) => void emitted.push([event, session]) });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; say End', { by: ann });
    const end = emitted.findIndex(([{ type }]) => type === 'ContinuationEvaluated');
    const [[message, session] = [], ...open] = emitted.slice(0, end);
    const withSeq = (event: BaseEvent | undefined, seq: number): BaseEvent => ({ ...event, seq }) as BaseEvent;

    const transport = createKeepingTransport();
    const adapter = new AgentEventEnvelopeAdapter(transport, { clock: createFakeClock() });
    adapter.broadcast(withSeq(message, 1), session);
    for (const [event] of open) adapter.broadcast(event, session);
    const before = transport.events().length;
    for (const seq of [2, 3]) adapter.broadcast(withSeq(message, seq), session);
    for (const [event] of open) adapter.broadcast(withSeq(event, event.seq + 2), session);
    const after = transport.events().slice(before);
    expect(after.map(({ event, seq, attempt }) => [event, seq, attempt])).toStrictEqual([
      ['agent.stream.void', undefined, 1],
      ['agent.message', 2, undefined],
      ['agent.message', 3, undefined],
      ['agent.status', undefined, 2],
      ['agent.step.started', undefined, 2],
      ['agent.tool.started', undefined, 2],
      ['agent.tool.completed', undefined, 2],
    ]);
    expectChain(transport.events());
    adapter.close();
  });
});

describe('an event about an action', () => {
  const header = { id: 'one/1/7', seq: 7, at: 0, agentId: 'desk', executionId: 'one/1', stepNumber: 1 };
  const wait = { id: 'w', type: 'approval', toolName: 'pay' } as never;
  const byType: { readonly [Type in SessionEvent['type']]: BaseEvent } = {
    UserMessageReceived: new UserMessageReceived(header, ann, { messageId: 'm', text: 'Hello' }),
    WaitResolved: new WaitResolved(header, ann, { wait, decision: 'approved' }),
    LimitsGranted: new LimitsGranted(header, ann, {}),
    CancelRequested: new CancelRequested(header, ann, 'enough'),
    ApprovalRevoked: new ApprovalRevoked(header, ann, 'a'),
    CrashLoopDetected: new CrashLoopDetected(header, { attempts: 3, waitId: 'w' }),
  };

  it.each(Object.entries(byType))('has its number at once if the session is at rest: %s', (_, event) => {
    const transport = createKeepingTransport();
    const adapter = new AgentEventEnvelopeAdapter(transport, { preset: 'debug', clock: createFakeClock() });
    const session: SessionFacts = { id: 'one', agent: { id: 'desk' } as never, tags: [], createdAt: 0 };
    adapter.broadcast(event, session);
    expect(transport.events().map(({ seq, provisional }) => [seq, provisional])).toStrictEqual([[7, undefined]]);
    adapter.close();
  });

  it('has its number if a runtime revokes an approval', async () => {
    const stage = stageOn(createMemoryPlace());
    const transport = createKeepingTransport();
    const adapter = new AgentEventEnvelopeAdapter(transport, { preset: 'debug', clock: createFakeClock() });
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
      needsApproval: true,
      approvalScope: { arguments: 'exact', maxUses: 3, expiresMs: 60_000 },
      run: () => 'paid',
    });
    const runtime = stage.start({ agents: [stage.agent({ tools: [pay] })], onEvent: adapter.broadcast });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 5', { by: ann });
    await runtime.approve('one', await getWait(runtime, 'one'), { by: bob, scope: 'session' });
    const [approval] = (await runtime.get('one')).approvals;
    await runtime.revokeApproval('one', approval?.id ?? '', { by: bob });
    const { lastSeq } = await runtime.get('one');
    await until(() => expect(transport.events().at(-1)).toMatchObject({ event: 'agent.approval_revoked', seq: lastSeq }));
    expectChain(transport.events());
    adapter.close();
  });
});

describe('a channel among more than 10,000', () => {
  const header = { at: 0, agentId: 'desk', stepNumber: 1 };
  const toMessage = (sessionId: string, seq: number): BaseEvent =>
    new UserMessageReceived({ ...header, id: `${sessionId}/1/${seq}`, seq, sessionId, executionId: `${sessionId}/1` }, ann, {
      messageId: 'm',
      text: 'Hello',
    });
  const setUpFlood = () => {
    const transport = createKeepingTransport();
    const send: KeepingTransport['send'] = (channel, envelopes) =>
      channel === 'agent.one' ? transport.send(channel, envelopes) : undefined;
    const adapter = new AgentEventEnvelopeAdapter({ send }, { clock: createFakeClock() });
    let count = 0;
    const flood = (size: number): void => {
      for (const end = count + size; count < end; count += 1) adapter.broadcast(toMessage(`other-${count}`, 1));
    };
    return { transport, adapter, flood };
  };

  it('is kept while it is used', () => {
    const { transport, adapter, flood } = setUpFlood();
    adapter.broadcast(toMessage('one', 1));
    flood(9000);
    adapter.broadcast(toMessage('one', 2));
    flood(9000);
    adapter.broadcast(toMessage('one', 3));
    expect(transport.events().map(({ seq, prev_seq }) => [seq, prev_seq])).toStrictEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    adapter.close();
  });

  it('is kept while it has events that are not confirmed', async () => {
    const { transport, adapter, flood } = setUpFlood();
    const stage = stageOn(createMemoryPlace());
    const onEvent = (event: BaseEvent, session?: SessionFacts): void => {
      adapter.broadcast(event, session);
      if (event.type === 'ToolCallCompleted') flood(10_001);
    };
    const runtime = stage.start({ onEvent });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; say End', { by: ann });
    const numbered = transport.events().filter(({ seq }) => seq !== undefined);
    expect(numbered.map(({ event }) => event)).toContain('agent.tool.completed');
    expectChain(numbered);
    await runtime.drain();
    adapter.close();
  });
});
