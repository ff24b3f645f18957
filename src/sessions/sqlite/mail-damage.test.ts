import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SessionStore, SessionWrite } from '../index.ts';
import { sqliteStore } from './index.ts';

const newSession = (id: string): SessionWrite => ({
  ...{ sessionId: id, lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: true, after: 0 },
  header: {
    ...{ id, agentName: 'a', agentRelease: '1', format: 1, tags: ['x'], status: 'waiting', isOpen: false },
    ...{ createdAt: 1, updatedAt: 1, details: '{}' },
  },
  entries: [{ n: 1, at: 1, isSnapshot: true, requestId: 'r', body: '1' }],
  effects: [{ key: 'a', phase: 'intent', body: '1' }],
});

/** Parts of a later write. */
const going = { lease: { worker: 'w', fence: 1, type: 'held' }, keepsLease: true, after: 1 } as const;

let folder = '';
let raw: DatabaseSync;
let store: SessionStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepline-mail-'));
  const path = join(folder, 'sessions.db');
  store = sqliteStore({ path });
  await store.leases.join({ id: 'w', joinedAt: 1, agents: ['a'] }, { room: 1 });
  for (const id of ['one', 'gone', 'two', 'off']) await store.log.write(newSession(id));
  for (const id of ['gone', 'off']) await store.log.delete({ sessionId: id, at: 5000 });
  for (const requestId of ['a', 'b', 'c']) await store.inbox.post({ sessionId: 'one', requestId, at: 1, body: '{}' });
  for (const name of ['h', 'i', 'j']) await store.notes.write({ name, version: 0, body: '{}' });
  raw = new DatabaseSync(path);
});

afterEach(async () => {
  raw.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const damage = (statement: string): void => expect(raw.prepare(statement).run().changes).toBe(1);
const listRequests = async (): Promise<string> => (await store.inbox.read()).map(({ requestId }) => requestId).join('');

/** Asserts that sessions can be read and created, and that nothing is said of their damage. */
async function expectIntactSessions(): Promise<void> {
  expect((await store.heads.list()).sessions.map(({ id, damage: found }) => [id, found])).toStrictEqual([
    ['two', undefined],
    ['one', undefined],
  ]);
  expect([(await store.log.load('one'))?.head, (await store.log.load('two'))?.head]).toStrictEqual([1, 1]);
  await store.log.write(newSession('new'));
  await store.log.write({ ...going, sessionId: 'one', entries: [{ n: 2, at: 1, isSnapshot: false, body: '2' }] });
  expect((await store.log.load('new'))?.head).toBe(1);
}

test.each([
  'UPDATE mail SET body = 1 WHERE num = 2',
  "UPDATE mail SET request_id = 'a' WHERE num = 2",
  "UPDATE mail SET session_id = 'two' WHERE num = 2",
  'UPDATE mail SET session = 3 WHERE num = 2',
  'UPDATE mail SET session = 1 << 60 WHERE num = 2',
  'UPDATE mail SET num = 1 WHERE num = 2',
  'UPDATE mail SET num = 4 WHERE num = 2',
  'UPDATE mail SET num = 1 << 60 WHERE num = 2',
  'UPDATE mail SET num = -1 WHERE num = 2',
  'UPDATE mail SET at = 1 << 60 WHERE num = 2',
  "UPDATE mail SET reply = '{}' WHERE num = 2",
  'UPDATE mail SET sum = 1 << 60 WHERE num = 2',
  'DELETE FROM mail WHERE num = 2',
])('a damaged mail is not applied, can be posted again, and harms no other: %s', async (statement) => {
  damage(statement);
  expect([await listRequests(), (await store.inbox.read({ limit: 2 })).length]).toStrictEqual(['ac', 2]);
  expect(await store.inbox.read({ sessionId: 'two' })).toStrictEqual([]);
  await store.log.write({ ...going, sessionId: 'one', mail: { num: 2, reply: '{}' } });
  expect((await store.inbox.post({ sessionId: 'one', requestId: 'b', at: 1, body: '{}' }))?.num).toBe(4);
  expect((await store.inbox.post({ sessionId: 'one', requestId: 'a', at: 1, body: '{}' }))?.num).toBe(1);
  expect(await listRequests()).toBe('acb');
  const count = raw.prepare("SELECT count(*) AS count FROM mail WHERE session_id = 'one' AND request_id = 'b'").get();
  expect(count, 'the damaged one is gone').toMatchObject({ count: 1 });
  await expectIntactSessions();
});

test.each([
  'UPDATE tombstones SET at = 1 << 60 WHERE num = 2',
  "UPDATE tombstones SET at = 'x' WHERE num = 2",
  'UPDATE tombstones SET num = 1 WHERE num = 2',
  'UPDATE tombstones SET num = 1 << 60 WHERE num = 2',
  'UPDATE tombstones SET num = NULL WHERE num = 2',
  "UPDATE tombstones SET id = 'one' WHERE num = 2",
  'UPDATE tombstones SET id = NULL WHERE num = 2',
  "UPDATE tombstones SET id_copy = 'two' WHERE num = 2",
  "UPDATE tombstones SET id = 'off' WHERE num = 2",
  'UPDATE tombstones SET sum = 1 << 60 WHERE num = 2',
])('a damaged tombstone still refuses, and harms no other session: %s', async (statement) => {
  damage(statement);
  for (const id of ['gone', 'off']) {
    await expect(store.log.load(id)).rejects.toMatchObject({ code: 'session-deleted', sessionId: id });
    await expect(store.log.write(newSession(id))).rejects.toMatchObject({ code: 'session-deleted' });
    await expect(store.inbox.post({ sessionId: id, requestId: 'r', at: 1, body: '{}' })).rejects.toMatchObject({ code: 'session-deleted' });
    expect(await store.log.entries(id)).toStrictEqual([]);
  }
  await expectIntactSessions();
  for (const sessionId of ['gone', 'one']) await store.log.delete({ sessionId, at: 6000 });
  await expect(store.log.load('one')).rejects.toMatchObject({ code: 'session-deleted', deletedAt: 6000 });
  await expect(store.log.load('gone')).rejects.toMatchObject({ code: 'session-deleted' });
});

test.each([
  "UPDATE sessions SET id = 'other' WHERE id = 'two'",
  "UPDATE sessions SET num = 99 WHERE id = 'two'",
  "UPDATE sessions SET is_open = 1 << 60 WHERE id = 'two'",
  "DELETE FROM sessions WHERE id = 'two'",
  'DELETE FROM heads WHERE session = 3',
  "UPDATE log SET session = 1, n = 9, request_id = 'x' WHERE session = 3",
])('a damaged session can be deleted, and the others stay: %s', async (statement) => {
  raw.exec('DROP INDEX log_first');
  damage(statement);
  const before = await store.log.load('one');
  await store.log.delete({ sessionId: 'two', at: 6000 });
  await expect(store.log.load('two')).rejects.toMatchObject({ code: 'session-deleted' });
  expect(await store.log.load('one')).toStrictEqual(before);
  expect((await store.heads.list()).sessions).toMatchObject([{ id: 'one' }]);
  expect(raw.prepare('SELECT count(*) AS count FROM heads').get()).toStrictEqual({ __proto__: null, count: 1 });
});

test('the entry that cannot be read is not rewritten', async () => {
  damage("UPDATE log SET body = 'x' WHERE session = 3");
  const rewrite = { ...going, sessionId: 'two', rewrites: [{ n: 1, body: '""' }] };
  await expect(store.log.write(rewrite)).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
  expect(raw.prepare('SELECT body FROM log WHERE session = 3').get()).toMatchObject({ body: 'x' });
});

test('damage to a row of the open step is reported where rows are read by their keys', async () => {
  damage('UPDATE effects SET body = 9 WHERE session = 3');
  await expect(store.log.effects('two', { prefix: 'a' })).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
  await expect(store.log.effects('two')).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
  expect((await store.log.effects('two', { prefix: 'b' }))?.effects).toStrictEqual([]);
});
