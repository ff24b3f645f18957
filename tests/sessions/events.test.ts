import { describe, expect, test, vi } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import type { EmbeddedRuntime, StoredEvent } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { Stage } from './stage.ts';
import { ann, bob, createGate, readEvents, places, refusal, stageOn, until, getWait } from './stage.ts';

const unnumbered = new Set(['TextDelta', 'ReasoningDelta', 'ToolCallProgress', 'ToolInputDelta']);

/** Events for listeners, as plain data. */
function listening(stage: Stage, more: Parameters<Stage['start']>[0] = {}) {
  const heard: StoredEvent[] = [];
  const runtime = stage.start({
    onEvent: (event) => {
      if (!unnumbered.has(event.type)) heard.push(JSON.parse(JSON.stringify(event)) as StoredEvent);
    },
    ...more,
  });
  return { runtime, heard };
}

async function follow(runtime: EmbeddedRuntime, id: string, options: { readonly from?: number; readonly signal?: AbortSignal } = {}) {
  const events: StoredEvent[] = [];
  const { from = 0, signal } = options;
  const ended = (async () => {
    for await (const event of runtime.events(id, { fromSeq: from, follow: true, ...(signal !== undefined && { signal }) }))
      events.push(event);
  })();
  return { events, ended };
}

// What has to be approved is read with the digest that an approval needs; live events have none.
const withoutDigest = ({ digest, ...event }: StoredEvent & { readonly digest?: string }): unknown => {
  expect(typeof digest).toBe(event.type === 'ToolApprovalRequested' ? 'string' : 'undefined');
  return event;
};

describe.each(pickSubjects(places))('stored events over %s', (_, makePlace) => {
  test('are read by another process without decoding the session again for each of them', async () => {
    const place = makePlace();
    const stage = stageOn(place);
    const { runtime } = listening(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; look 2; look 3; look 4; look 5; say End', { by: ann });
    const store = place.open();
    const load = vi.spyOn(store.log, 'load');
    const client = createSessionRuntime({ agents: [stage.agent()], store, role: 'client' });
    const events = await readEvents(client, 'one');
    expect(events).toStrictEqual(await readEvents(runtime, 'one'));
    expect(events.length).toBeGreaterThan(20);
    expect(load).not.toHaveBeenCalled();
    // Nor for a second reader, or for what is stored later.
    await runtime.send('one', 'look 6; say Again', { by: ann });
    expect(await readEvents(client, 'one')).toStrictEqual(await readEvents(runtime, 'one'));
    expect((await client.get('one')).text).toBe('Again');
    expect(load).toHaveBeenCalledTimes(1);
  });

  test('show nothing that was erased meanwhile', async () => {
    const place = makePlace();
    const stage = stageOn(place);
    const { runtime } = listening(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'say Hidden', { by: ann });
    const client = createSessionRuntime({ agents: [stage.agent()], store: place.open(), role: 'client' });
    const { state } = await client.get('one');
    expect(state.messages.toArray().at(-1)?.text).toBe('Hidden');
    for (const { id } of state.messages.toArray()) await runtime.eraseMessage('one', id, { by: ann });
    expect(JSON.stringify(await readEvents(client, 'one'))).not.toContain('Hidden');
    expect(JSON.stringify((await client.get('one')).state.messages.toArray())).not.toContain('Hidden');
    await runtime.send('one', 'say Later', { by: ann });
    expect(JSON.stringify((await client.get('one')).state.messages.toArray())).not.toContain('Hidden');
  });

  test('are those that a listener heard: type, number, id and every field', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listening(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1 & broken 2; pay 3; say End', { by: ann });
    await runtime.approve('one', await getWait(runtime, 'one'), { by: bob });
    await runtime.send('one', 'ask 1', { by: ann });
    await runtime.send('one', 'say Never mind', { by: ann });
    await runtime.send('one', 'pay 9', { by: ann });
    await runtime.cancel('one', 'enough', { by: ann });
    const stored = await readEvents(runtime, 'one');
    expect(stored.map(({ seq }) => seq)).toStrictEqual(stored.map((_event, index) => index + 1));
    expect(stored.map(withoutDigest)).toStrictEqual(heard);
    expect(stored.at(-1)).toMatchObject({ type: 'AgentFinished', stopReason: 'user_requested' });
    const judged = stored.filter((event) => event.type === 'ContinuationEvaluated');
    expect(judged.length).toBeGreaterThanOrEqual(5);
    for (const { outcome } of judged)
      expect(outcome).toMatchObject({ decision: expect.any(String) as string, evaluations: expect.any(Array) as unknown[] });
  });

  test('hold secrets as they were; redact takes them out of what is returned, and the digest still approves', async () => {
    const stage = stageOn(makePlace());
    const secret = 'sk-abcdefghijklmnopqrstuvwx';
    const open = defineTool({
      name: 'open',
      description: 'Opens.',
      input: { type: 'object', properties: { password: { type: 'string' } } },
      needsApproval: true,
      run: ({ password }) => `opened with ${String(password)}`,
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'open', args: { password: secret } }] }, 'Open.']);
    const runtime = stage.start({ agents: [createAgent({ model, tools: [open], ports: { clock: stage.clock, ids: stage.ids } })] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'Open it.', { by: ann });
    const read = async (redact: boolean): Promise<readonly StoredEvent[]> => {
      const events: StoredEvent[] = [];
      for await (const event of runtime.events('one', { redact, follow: false })) events.push(event);
      return events;
    };
    const [asked] = (await read(true)).filter((event) => event.type === 'ToolApprovalRequested');
    expect(asked).toMatchObject({ args: { password: '[redacted]' } });
    // Holds: such an event has them.
    const wait = { id: asked?.waitId as string, digest: asked?.digest as string };
    expect(await runtime.approve('one', wait, { by: bob })).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(await read(true))).not.toContain(secret);
    expect(JSON.stringify(await read(false))).toContain(secret);
    const inShort = (events: readonly StoredEvent[]) =>
      events.map(({ type, id, seq, at, executionId }) => [type, id, seq, at, executionId]);
    expect(inShort(await read(true))).toStrictEqual(inShort(await read(false)));
  });

  test('are the same after a restart, also where one stood before it', async () => {
    const stage = stageOn(makePlace());
    const { runtime, heard } = listening(stage);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; pay 2', { by: ann });
    await runtime.drain();
    const next = listening(stage);
    await next.runtime.approve('one', await getWait(next.runtime, 'one'), { by: bob });
    expect((await readEvents(next.runtime, 'one')).map(withoutDigest)).toStrictEqual([...heard, ...next.heard]);
  });

  test('of a run that was cut off are told once, without a gap', async () => {
    const stage = stageOn(makePlace());
    const first = stage.start();
    await first.create({ id: 'one' }, { by: ann });
    await first.send('one', 'look 1; slow 2; say End', { by: ann, until: 'accepted' });
    await stage.gate.current.reached;
    const before = await readEvents(first, 'one');
    stage.gate.current = createGate();
    const runtime = stage.start();
    await until(async () => expect((await runtime.get('one')).text).toBe('End'));
    await runtime.resume('one', { by: ann });
    const events = await readEvents(runtime, 'one');
    expect(events.slice(0, before.length)).toStrictEqual(before);
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events.filter(({ type }) => type === 'AgentFinished')).toHaveLength(1);
  });

  test('of sub-agents are among them', async () => {
    const stage = stageOn(makePlace());
    const top = createAgent({
      id: 'top',
      model: stage.model,
      ports: { clock: stage.clock, ids: stage.ids },
      capabilities: [subAgents({ agents: { helper: { agent: stage.agent(), description: 'Helps.' } } })],
    });
    const { runtime, heard } = listening(stage, { agents: [top] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'spawn_subagent pay 5', { by: ann });
    await runtime.approve('one', await getWait(runtime, 'one'), { by: bob });
    const stored = await readEvents(runtime, 'one');
    expect(stored.map(withoutDigest)).toStrictEqual(heard);
    expect(new Set(stored.map(({ agentId }) => agentId)).size).toBe(2);
    for (const event of stored.filter((event) => event.type === 'ContinuationEvaluated'))
      expect(event.outcome).toMatchObject({ evaluations: expect.any(Array) as unknown[] });
  });

  test.each([0, 1, 4, 9])('can be read from number %i on', async (from) => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; look 2', { by: ann });
    const all = await readEvents(runtime, 'one');
    expect(await readEvents(runtime, 'one', from)).toStrictEqual(all.slice(from));
    expect(await readEvents(runtime, 'one', all.length)).toStrictEqual([]);
    expect(await readEvents(runtime, 'one', 10_000)).toStrictEqual([]);
  });

  test('of many steps are all read', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start({ agents: [stage.agent({ limits: { steps: 400 } })] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', Array.from({ length: 250 }, (_gone, index) => `look ${index}`).join(';'), { by: ann });
    const events = await readEvents(runtime, 'one');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    expect(events.filter((event) => event.type === 'AgentStepCompleted')).toHaveLength(251);
  });

  test('are followed live: each step when it is stored, over several executions', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const stop = new AbortController();
    const { events, ended } = await follow(runtime, 'one', { signal: stop.signal });
    const sending = runtime.send('one', 'look 1; slow 2; say End', { by: ann });
    await stage.gate.current.reached;
    await until(() => expect(events.some(({ type }) => type === 'AgentStepCompleted')).toBe(true));
    expect(events.filter((event) => event.type === 'AgentStepCompleted')).toHaveLength(1);
    stage.gate.current.open();
    await sending;
    await runtime.send('one', 'say More', { by: ann });
    const all = await readEvents(runtime, 'one');
    await until(() => expect(events).toHaveLength(all.length));
    expect(events).toStrictEqual(all);
    stop.abort();
    await ended;
  });

  test('several readers follow from where each of them stood', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1', { by: ann });
    const stop = new AbortController();
    const readers = await Promise.all([0, 5, 10].map((from) => follow(runtime, 'one', { from, signal: stop.signal })));
    await runtime.send('one', 'look 2', { by: ann });
    const all = await readEvents(runtime, 'one');
    for (const [index, { events }] of readers.entries()) await until(() => expect(events).toStrictEqual(all.slice(index * 5)));
    stop.abort();
    await Promise.all(readers.map(({ ended }) => ended));
  });

  test('a reader who leaves stops nothing', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const sending = runtime.send('one', 'look 1; look 2; say End', { by: ann });
    for await (const event of runtime.events('one', { follow: true })) if (event.type === 'AgentStepCompleted') break;
    expect((await sending).text).toBe('End');
  });

  test('a signal that has fired before ends the reader after what is there', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1', { by: ann });
    const { events, ended } = await follow(runtime, 'one', { signal: AbortSignal.abort() });
    await ended;
    const all = await readEvents(runtime, 'one');
    expect([[], all]).toContainEqual(events);
  });

  test('drain ends those who follow', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const { events, ended } = await follow(runtime, 'one');
    await runtime.send('one', 'look 1', { by: ann });
    await runtime.drain();
    await ended;
    expect(events.at(-1)?.type).toBe('AgentFinished');
  });

  test('are followed in a runtime that others have taken for gone too', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    const { events, ended } = await follow(runtime, 'one');
    const next = stage.start();
    await next.send('one', 'look 1', { by: ann });
    await until(() => expect(events.at(-1)?.type).toBe('AgentFinished'));
    expect(events).toStrictEqual(await readEvents(next, 'one'));
    await runtime.drain();
    await ended;
  });

  test('of an unknown session are refused, also where they are followed', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await refusal(readEvents(runtime, 'nobody'), 'unknown-session');
    await refusal(
      follow(runtime, 'nobody').then(({ ended }) => ended),
      'unknown-session',
    );
  });

  test('can still be read after a drain, or it is said that they cannot', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1', { by: ann });
    const all = await readEvents(runtime, 'one');
    await runtime.drain();
    const [settled] = await Promise.allSettled([readEvents(runtime, 'one')]);
    expect(settled).toMatchObject(settled.status === 'rejected' ? { reason: { code: 'runtime-closed' } } : { value: all });
  });
});
