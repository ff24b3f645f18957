import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import { compaction } from '../../src/capabilities/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import type { RunState } from '../../src/step-by-step/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { readActions, ann, bob, dump, readEvents, places, refusal, stageOn, until, getWait } from './stage.ts';

const listTexts = (state: RunState): readonly string[] =>
  state.messages.toArray().map(({ role, text, toolCalls }) => `${role}: ${text || toolCalls.map(({ name }) => name).join(' ')}`);

describe.each(pickSubjects(places))('forks over %s', (_, makePlace) => {
  async function conversation() {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one', tenant: 't', owner: 'ann', tags: ['a'] }, { by: ann });
    await runtime.send('one', 'note 1; say First', { by: ann });
    await runtime.send('one', 'look 2; note 3; say Second', { by: ann });
    await runtime.send('one', 'say Third', { by: ann });
    const reader = stage.place.open();
    return { ...stage, runtime, reader, before: await dump(reader) };
  }

  test('at the end of an execution, the conversation goes on from there', async () => {
    const { runtime, reader, before } = await conversation();
    const fork = await runtime.fork('one', { execution: 1, step: 2 }, { by: bob, id: 'fork' });
    expect(fork).toMatchObject({
      id: 'fork',
      tenant: 't',
      owner: 'ann',
      tags: ['a'],
      status: 'completed',
      text: 'First',
      executions: 1,
      stepCount: 2,
      forkedFrom: { sessionId: 'one', execution: 1, step: 2 },
    });
    expect(listTexts(fork.state)).toStrictEqual(['user: note 1; say First', 'assistant: note', 'tool: ', 'assistant: First']);
    expect(await runtime.send('fork', 'say Otherwise', { by: ann })).toMatchObject({ execution: 2, text: 'Otherwise' });
    const source = (await dump(reader)) as readonly { readonly id: string }[];
    expect(source.filter(({ id }) => id === 'one')).toStrictEqual(before);
    expect((await readActions(reader, 'fork'))[2]).toMatchObject({
      type: 'fork',
      from: { sessionId: 'one', execution: 1, step: 2 },
      by: bob,
    });
  });

  test('in the middle of an execution, that goes on under ids of its own', async () => {
    const { runtime, ran, keys, reader, before } = await conversation();
    ran.length = 0;
    keys.length = 0;
    const fork = await runtime.fork('one', { execution: 2, step: 1 }, { by: bob, id: 'fork' });
    expect(fork).toMatchObject({ status: 'in_progress', executions: 2, stepCount: 3 });
    expect(ran).toStrictEqual([]);
    const turn = await runtime.resume('fork', { by: bob });
    expect(turn).toMatchObject({ execution: 2, status: 'completed', text: 'Second' });
    expect([ran, keys.map((key) => key.split('/').slice(0, 3))]).toStrictEqual([['note 3'], [['fork', '2', '2']]]);
    const { state } = await runtime.get('fork');
    expect(state.session.executions.map(({ id }) => id)).toStrictEqual(['one/1', 'fork/2']);
    expect(listTexts(state).filter((text) => text.startsWith('user'))).toHaveLength(2);
    expect(((await dump(reader)) as readonly { readonly id: string }[]).filter(({ id }) => id === 'one')).toStrictEqual(before);
  });

  test('that was made in the middle lies still until somebody does something with it, also in the next runtime', async () => {
    const { runtime, start, ran } = await conversation();
    await runtime.fork('one', { execution: 2, step: 1 }, { by: bob, id: 'fork' });
    await runtime.drain();
    ran.length = 0;
    const next = start();
    expect((await next.ready).resumed).toStrictEqual([]);
    expect([(await next.get('fork')).status, ran]).toStrictEqual(['in_progress', []]);
    const turn = await next.resume('fork', { by: bob });
    expect(turn).toMatchObject({ status: 'completed', text: 'Second' });
    expect(ran).toStrictEqual(['note 3']);
  });

  test('have the events of their source up to that step, and go on with numbers that have no gap', async () => {
    const { runtime } = await conversation();
    await runtime.fork('one', { execution: 2, step: 1 }, { by: bob, id: 'fork' });
    const { state: source, lastSeq: all } = await runtime.get('one');
    const { lastSeq } = await runtime.get('fork');
    expect(lastSeq).toBeLessThan(all);
    const past = (await readEvents(runtime, 'one')).filter(({ seq }) => seq <= lastSeq).map((event) => ({ ...event, sessionId: 'fork' }));
    expect(await readEvents(runtime, 'fork')).toStrictEqual(past);
    expect(past.at(-1)).toMatchObject({ executionId: 'one/2', stepNumber: 1 });
    await runtime.resume('fork', { by: bob });
    await runtime.send('fork', 'say More', { by: ann });
    const events = await readEvents(runtime, 'fork');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    expect(events.slice(0, past.length)).toStrictEqual(past);
    const own = await readEvents(runtime, 'fork', lastSeq);
    expect(new Set(own.map(({ executionId }) => executionId))).toStrictEqual(new Set(['fork/2', 'fork/3']));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(own.every(({ agentId }) => agentId !== source.agentId)).toBe(true);
    const judged = events.filter((event) => event.type === 'ContinuationEvaluated');
    expect(judged.length).toBe(6);
    for (const event of judged) expect(event.outcome).toMatchObject({ resolvedBy: expect.any(String) as string });
  });

  test('need their source no more: all of it can be read and forked when that is deleted', async () => {
    const { runtime, start } = await conversation();
    await runtime.fork('one', { execution: 2, step: 2 }, { by: bob, id: 'fork' });
    const before = { actions: await runtime.actions('fork'), events: await readEvents(runtime, 'fork') };
    expect(before.actions.map(({ type }) => type)).toStrictEqual(['create', 'send', 'send', 'fork']);
    expect(before.events.filter(({ type }) => type === 'AgentFinished')).toHaveLength(1);
    await runtime.delete('one', { by: bob });
    const next = start();
    expect({ actions: await next.actions('fork'), events: await readEvents(next, 'fork') }).toStrictEqual(before);
    const early = await next.fork('fork', { execution: 1, step: 1 }, { by: bob, id: 'early' });
    expect(early).toMatchObject({ forkedFrom: { sessionId: 'fork', execution: 1, step: 1 }, stepCount: 1, status: 'in_progress' });
    expect(await next.resume('early', { by: bob })).toMatchObject({ execution: 1, text: 'First' });
    expect(await next.resume('fork', { by: bob })).toMatchObject({ execution: 2, text: 'Second' });
    expect((await next.actions('early')).map(({ type }) => type)).toStrictEqual(['create', 'send', 'fork', 'resume']);
    await refusal(next.fork('fork', { execution: 3, step: 1 }, { by: bob }), 'unknown-step');
  });

  test('take no request of their source for one of their own', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann, requestId: 'new' });
    await runtime.send('one', 'say First', { by: ann, requestId: 'r' });
    const options = { by: bob, id: 'fork', requestId: 'new' };
    expect((await runtime.fork('one', { execution: 1, step: 1 }, options)).executions).toBe(1);
    expect((await runtime.fork('one', { execution: 1, step: 1 }, options)).executions).toBe(1);
    await refusal(runtime.fork('one', { execution: 1, step: 1 }, { ...options, tags: ['x'] }), 'request-reused');
    await refusal(runtime.fork('one', { execution: 1, step: 1 }, { ...options, requestId: 'other' }), 'session-conflict');
    const turn = await runtime.send('fork', 'say Second', { by: ann, requestId: 'r' });
    expect([turn.text, turn.isRepeated]).toStrictEqual(['Second', undefined]);
    expect((await runtime.actions('fork')).map(({ requestId }) => requestId)).toStrictEqual([undefined, undefined, 'new', 'r']);
  });

  test('leave out an action that came during the step, and say so', async () => {
    const { runtime, gate } = await conversation();
    const sending = runtime.send('one', 'slow 6; say Fourth', { by: ann });
    await gate.current.reached;
    const grant = runtime.grant('one', { steps: 3 }, { by: bob });
    await until(async () => expect((await runtime.actions('one')).at(-1)?.type).toBe('grant'));
    gate.current.open();
    await Promise.all([sending, grant]);
    const fork = await runtime.fork('one', { execution: 4, step: 1 }, { by: bob, id: 'fork' });
    expect(fork.state.execution.grants ?? []).toStrictEqual([]);
    const found = (await runtime.actions('fork')).find(({ type }) => type === 'grant');
    expect(found?.refused).toContain('forked before');
    expect((await runtime.actions('one')).find(({ type }) => type === 'grant')?.refused).toBeUndefined();
  });

  test('copy long logs, with their snapshots', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    for (const name of ['A', 'B', 'C', 'D']) await runtime.send('one', `say ${name}${'x'.repeat(300_000)}`, { by: ann });
    const reader = stage.place.open();
    expect((await reader.log.entries('one')).filter(({ isSnapshot }) => isSnapshot).length).toBeGreaterThan(2);
    await runtime.fork('one', { execution: 4, step: 1 }, { by: bob, id: 'fork' });
    const stored = await reader.log.load('fork');
    expect(stored?.entries).toHaveLength(1);
    await runtime.delete('one', { by: bob });
    expect((await runtime.get('fork')).text).toMatch(/^Dx/);
    expect((await runtime.fork('fork', { execution: 2, step: 1 }, { by: bob })).text).toMatch(/^Bx/);
    expect((await runtime.fork('fork', { execution: 3, step: 1 }, { by: bob })).text).toMatch(/^Cx/);
  });

  test('have the usage and the steps of the step at which they began', async () => {
    const { runtime } = await conversation();
    const usageAt = async (execution: number, step: number) => {
      const { usage, state, stepCount } = await runtime.fork('one', { execution, step }, { by: bob });
      return [usage.total, state.usage.total, stepCount, state.stepCount];
    };
    expect(await usageAt(1, 1)).toStrictEqual([15, 15, 1, 1]);
    expect(await usageAt(1, 2)).toStrictEqual([30, 30, 2, 2]);
    expect(await usageAt(2, 1)).toStrictEqual([45, 15, 3, 1]);
    expect(await usageAt(2, 3)).toStrictEqual([75, 45, 5, 3]);
    expect(await usageAt(3, 1)).toStrictEqual([90, 15, 6, 1]);
  });

  test('have the limits and grants of the step at which they began', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start({ agents: [stage.agent({ limits: { steps: 2, onLimit: 'pause' } })] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; look 2; look 3; look 4; say End', { by: ann });
    expect((await runtime.grant('one', { steps: 2 }, { by: bob })).waitingFor).toMatchObject([{ type: 'grant' }]);
    expect((await runtime.grant('one', { steps: 2 }, { by: bob })).status).toBe('completed');
    // One grant is in force there: one more step, then it waits again.
    await runtime.fork('one', { execution: 1, step: 3 }, { by: bob, id: 'fork' });
    expect(await runtime.resume('fork', { by: bob })).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'grant' }] });
    expect((await runtime.get('fork')).stepCount).toBe(4);
    // At the limit itself it waits as the source did.
    const atLimit = await runtime.fork('one', { execution: 1, step: 2 }, { by: bob, id: 'at-limit' });
    expect(atLimit).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'grant', sessionId: 'at-limit' }] });
    expect((await runtime.grant('at-limit', { steps: 9 }, { by: bob })).status).toBe('completed');
  });

  test('of a fork', async () => {
    const { runtime, ran, keys } = await conversation();
    await runtime.fork('one', { execution: 2, step: 1 }, { by: bob, id: 'fork' });
    await runtime.resume('fork', { by: bob });
    keys.length = 0;
    ran.length = 0;
    const again = await runtime.fork('fork', { execution: 2, step: 2 }, { by: bob, id: 'fork-2' });
    expect(again.forkedFrom).toStrictEqual({ sessionId: 'fork', execution: 2, step: 2 });
    expect(await runtime.resume('fork-2', { by: bob })).toMatchObject({ status: 'completed', text: 'Second' });
    expect(ran).toStrictEqual([]);
    const events = await readEvents(runtime, 'fork-2');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
  });

  test('of a fork, at a step that the fork was made from', async () => {
    const { runtime } = await conversation();
    await runtime.fork('one', { execution: 2, step: 2 }, { by: bob, id: 'fork' });
    // It is part of its history: {@link Session.state} has it.
    expect((await runtime.get('fork')).state.session.executions[0]?.results.length).toBe(2);
    const [settled] = await Promise.allSettled([runtime.fork('fork', { execution: 1, step: 2 }, { by: bob, id: 'fork-2' })]);
    expect(settled).toMatchObject({ status: 'fulfilled', value: { text: 'First', stepCount: 2 } });
  });

  test('of a step that waited, once it was recorded; what waits is answered in the fork by its own digest', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'look 1; pay 5; say End', { by: ann });
    const shown = await getWait(runtime, 'one');
    await refusal(runtime.fork('one', { execution: 1, step: 2 }, { by: bob }), 'unknown-step');
    await runtime.fork('one', { execution: 1, step: 1 }, { by: bob, id: 'fork' });
    expect((await runtime.resume('fork', { by: bob })).status).toBe('waiting');
    const own = await getWait(runtime, 'fork');
    expect([own.id === shown.id, own.digest === shown.digest]).toStrictEqual([true, false]);
    await refusal(runtime.approve('fork', shown, { by: bob }), 'foreign-approval');
    await runtime.approve('fork', own, { by: bob });
    await runtime.approve('one', shown, { by: bob });
    expect(stage.ran).toStrictEqual(['look 1', 'pay 5', 'pay 5']);
    expect(new Set(stage.keys).size).toBe(3);
  });

  test('after compaction have the conversation as it was before it', async () => {
    const stage = stageOn(makePlace());
    const summaries = scriptedModel([{ text: 'They talked.' }], { repeatLast: true });
    const agent = createAgent({
      id: 'desk',
      model: stage.model,
      tools: Object.values(stage.tools),
      ports: { clock: stage.clock, ids: stage.ids },
      capabilities: [compaction({ model: summaries, maxTokens: 1, maxBufferTokens: 1, countTokens: () => 1 })],
    });
    const runtime = stage.start({ agents: [agent] });
    await runtime.create({ id: 'one' }, { by: ann });
    for (const words of ['say A', 'say B', 'say C', 'say D']) await runtime.send('one', words, { by: ann });
    const all = (await runtime.get('one')).state;
    expect(summaries.calls.length).toBeGreaterThan(0);
    expect(all.messages.length).toBeLessThan(8);
    const fork = await runtime.fork('one', { execution: 2, step: 1 }, { by: bob, id: 'fork' });
    expect(fork.text).toBe('B');
    expect(JSON.stringify(fork.state.messagesForInference.toArray())).not.toContain('say C');
    expect((await runtime.send('fork', 'say E', { by: ann })).text).toBe('E');
    const late = await runtime.fork('one', { execution: 4, step: 1 }, { by: bob, id: 'late' });
    expect(late.state.messagesForInference.toArray().map(({ text }) => text)).toStrictEqual(
      all.messagesForInference.toArray().map(({ text }) => text),
    );
  });

  test('may have another owner, tenant and tags, and the same request makes one fork', async () => {
    const { runtime } = await conversation();
    const options = { by: bob, tenant: 'u', owner: 'bob', tags: ['b'], requestId: 'r' } as const;
    const fork = await runtime.fork('one', { execution: 1, step: 1 }, options);
    expect(fork).toMatchObject({ tenant: 'u', owner: 'bob', tags: ['b'] });
    expect((await runtime.fork('one', { execution: 1, step: 1 }, options)).id).toBe(fork.id);
  });

  test('survive a restart, with the step and the session that they come from', async () => {
    const { runtime, start } = await conversation();
    await runtime.fork('one', { execution: 1, step: 2 }, { by: bob, id: 'fork' });
    const next = start();
    expect(await next.get('fork')).toMatchObject({ forkedFrom: { sessionId: 'one', execution: 1, step: 2 }, text: 'First' });
    expect((await next.list()).sessions).toMatchObject([{ id: 'fork', forkedFrom: { sessionId: 'one' } }, { id: 'one' }]);
  });

  test('are made of a session while it runs', async () => {
    const { runtime, gate } = await conversation();
    const sending = runtime.send('one', 'look 5; slow 6; say Fourth', { by: ann });
    await gate.current.reached;
    const fork = await runtime.fork('one', { execution: 4, step: 1 }, { by: bob, id: 'fork' });
    expect(fork.status).toBe('in_progress');
    gate.current.open();
    expect((await sending).text).toBe('Fourth');
    expect((await runtime.resume('fork', { by: bob })).text).toBe('Fourth');
  });

  describe('at step 0', () => {
    test('have everything up to the message that began the execution, and nothing of it', async () => {
      const { runtime, reader, before } = await conversation();
      const fork = await runtime.fork('one', { execution: 2, step: 0 }, { by: bob, id: 'fork' });
      expect(fork).toMatchObject({ status: 'completed', text: 'First', executions: 1, stepCount: 2 });
      expect(listTexts(fork.state)).toStrictEqual(['user: note 1; say First', 'assistant: note', 'tool: ', 'assistant: First']);
      const past = (await readEvents(runtime, 'one')).filter(({ seq }) => seq <= fork.lastSeq);
      expect(past.at(-1)).toMatchObject({ type: 'AgentFinished', executionId: 'one/1' });
      expect(await readEvents(runtime, 'fork')).toStrictEqual(past.map((event) => ({ ...event, sessionId: 'fork' })));
      expect(await runtime.send('fork', 'look 2; note 3; say Second', { by: ann })).toMatchObject({ execution: 2, text: 'Second' });
      const events = await readEvents(runtime, 'fork');
      expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
      expect((await runtime.actions('fork')).map(({ type }) => type)).toStrictEqual(['create', 'send', 'fork', 'send']);
      expect(((await dump(reader)) as readonly { readonly id: string }[]).filter(({ id }) => id === 'one')).toStrictEqual(before);
    });

    test('leave out a message that waited in the queue, and say so', async () => {
      const { runtime, gate } = await conversation();
      const running = runtime.send('one', 'slow 6; say Fourth', { by: ann });
      await gate.current.reached;
      const queued = runtime.send('one', 'say Fifth', { by: ann, whileRunning: 'queue' });
      await until(async () => expect((await runtime.actions('one')).at(-1)).toMatchObject({ type: 'send', whileRunning: 'queue' }));
      gate.current.open();
      expect((await Promise.all([running, queued])).map(({ execution }) => execution)).toStrictEqual([4, 5]);
      const fork = await runtime.fork('one', { execution: 5, step: 0 }, { by: bob, id: 'fork' });
      expect(fork).toMatchObject({ status: 'completed', text: 'Fourth', executions: 4 });
      expect((await runtime.actions('fork')).find((action) => 'whileRunning' in action)?.refused).toContain('forked before');
      expect(await runtime.send('fork', 'say Else', { by: ann })).toMatchObject({ execution: 5, text: 'Else' });
    });

    test('are made while the first step of the execution runs, and lie still after a restart', async () => {
      const { runtime, start, gate, ran } = await conversation();
      const running = runtime.send('one', 'slow 6; say Fourth', { by: ann });
      await gate.current.reached;
      expect(await runtime.fork('one', { execution: 4, step: 0 }, { by: bob, id: 'fork' })).toMatchObject({ text: 'Third', executions: 3 });
      expect(await runtime.fork('one', { execution: 1, step: 0 }, { by: bob, id: 'empty' })).toMatchObject({ status: 'pending' });
      gate.current.open();
      await running;
      await runtime.drain();
      ran.length = 0;
      const next = start();
      expect((await next.ready).resumed).toStrictEqual([]);
      expect(await next.resume('empty', { by: bob })).toMatchObject({ status: 'pending' });
      expect(await next.send('empty', 'say Anew', { by: ann })).toMatchObject({ execution: 1, text: 'Anew' });
      expect(await next.send('fork', 'say Else', { by: ann })).toMatchObject({ execution: 4, text: 'Else' });
      expect(ran).toStrictEqual([]);
    });

    test('of a fork', async () => {
      const { runtime } = await conversation();
      await runtime.fork('one', { execution: 2, step: 0 }, { by: bob, id: 'edited' });
      await runtime.send('edited', 'say Other', { by: ann });
      await runtime.delete('one', { by: bob });
      const again = await runtime.fork('edited', { execution: 2, step: 0 }, { by: bob, id: 'again' });
      expect(again).toMatchObject({ text: 'First', forkedFrom: { sessionId: 'edited', execution: 2, step: 0 } });
      expect((await runtime.send('again', 'say Third try', { by: ann })).text).toBe('Third try');
      expect((await runtime.fork('again', { execution: 1, step: 0 }, { by: bob })).state.messages.length).toBe(0);
    });

    test('are refused for a session in which nothing was said', async () => {
      const { runtime } = await conversation();
      await runtime.create({ id: 'empty' }, { by: ann });
      const { message } = await refusal(runtime.fork('empty', { execution: 1, step: 0 }, { by: bob }), 'unknown-step');
      expect(message).toContain('no execution 1 that a message began');
    });
  });
});
