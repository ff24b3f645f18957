import { describe, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/broadcasting/index.ts';
import { AgentEventEnvelopeAdapter, createEnvelopeMapper } from '../../src/broadcasting/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { ann, bob, createGate, getWait, readEvents, stageOn } from '../sessions/stage.ts';
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
    const bare = ({ attempt: _, index: __, ...envelope }: EventEnvelope): unknown => {
      const { digest: ___, ...data } = envelope.data;
      return { ...envelope, data };
    };
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
