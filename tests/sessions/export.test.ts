import { expect, test } from 'vitest';
import type { ExportedSession, SessionStore } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { exportSession } from '../../src/sessions/core/export-session.ts';
import { ann, bob, changeStored, readEvents, stageOn } from './stage.ts';

async function collect(exported: AsyncIterable<ExportedSession>): Promise<readonly ExportedSession[]> {
  const all: ExportedSession[] = [];
  for await (const each of exported) all.push(each);
  return all;
}

async function stageWithSessions() {
  const stage = stageOn(createMemoryPlace());
  const runtime = stage.start();
  await runtime.create({ id: 'one', owner: 'ann', tags: ['a'] }, { by: ann });
  await runtime.send('one', 'look 1; say First', { by: ann, requestId: 'r' });
  await runtime.create({ id: 'two', owner: 'ann' }, { by: ann });
  await runtime.send('two', 'pay 5; say Second', { by: ann });
  await runtime.create({ id: 'other', owner: 'bob' }, { by: bob });
  return { ...stage, runtime, store: stage.place.open() };
}

/** Damages an entry of a session. */
const damage = (store: SessionStore, sessionId: string): Promise<void> =>
  changeStored(store, sessionId, () => ({ rewrites: [{ n: 1, body: '{"broken' }] }));

test('everything of matching sessions, as plain JSON', async () => {
  const { runtime, agent } = await stageWithSessions();
  const exported = await collect(runtime.export({ owner: 'ann' }));
  expect(JSON.parse(JSON.stringify(exported))).toEqual(exported);
  expect(exported.map(({ session }) => session.id)).toEqual(['two', 'one']);
  const [two, one] = exported;
  expect(one?.session).toEqual((await runtime.list({ tag: 'a' })).sessions[0]);
  expect(one?.actions).toEqual(await runtime.actions('one'));
  expect(one?.events).toEqual(await readEvents(runtime, 'one'));
  expect(one?.events?.some((event) => event.type === 'ContinuationEvaluated' && typeof event.outcome === 'object')).toBe(true);
  const { state } = await runtime.get('one');
  const { states } = agent();
  expect(states.stringify(states.decode(one?.state))).toBe(JSON.stringify(state));
  expect(two?.session).toMatchObject({ status: 'waiting', waitingFor: [{ toolName: 'pay' }] });
});

test('a damaged session is named with its damage, and the others are whole', async () => {
  const { start, store } = await stageWithSessions();
  await damage(store, 'one');
  const exported = await collect(start().export({ owner: 'ann' }));
  expect(exported.map(({ session, damage: found }) => [session.id, found !== undefined])).toEqual([
    ['two', false],
    ['one', true],
  ]);
  expect(exported[1]?.session).toMatchObject({ id: 'one', damage: exported[1]?.damage });
  expect(exported[1]?.state).toBeUndefined();
});

test('a session that was set aside, but can be read, is exported with the note', async () => {
  const { runtime, store } = await stageWithSessions();
  await store.heads.quarantine('one', 'somebody doubts it');
  const found = (await collect(runtime.export({ tag: 'a' })))[0];
  expect(found).toMatchObject({ damage: 'somebody doubts it', session: { id: 'one', owner: 'ann' } });
  expect(found?.events?.length).toBeGreaterThan(5);
});

test('a session of an agent that is not known here is named too', async () => {
  const { start, agent } = await stageWithSessions();
  const exported = await collect(start({ agents: [agent({ id: 'elsewhere' })] }).export({ tag: 'a' }));
  expect(exported).toMatchObject([{ session: { id: 'one' } }]);
  expect(exported[0]?.damage).toMatch(/has no agent "desk"/);
});

test('a session that was deleted since it was listed is not there', async () => {
  const { runtime, store, agent } = await stageWithSessions();
  const [listed] = (await store.heads.list({ tag: 'a' })).sessions;
  await runtime.delete('one', { by: bob });
  expect(listed && (await exportSession(store, listed, () => agent().states))).toBeUndefined();
});

test('a fork is exported with its past', async () => {
  const { runtime } = await stageWithSessions();
  await runtime.fork('one', { execution: 1, step: 1 }, { by: bob, id: 'fork', owner: 'carl' });
  await runtime.delete('one', { by: bob });
  const [fork] = await collect(runtime.export({ owner: 'carl' }));
  expect(fork?.actions?.map(({ type }) => type)).toEqual(['create', 'send', 'fork']);
  expect(fork?.events?.at(-1)).toMatchObject({ executionId: 'one/1', stepNumber: 1 });
});
