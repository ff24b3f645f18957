import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SessionStore, SessionWrite } from '../index.ts';
import { sqliteStore } from './index.ts';

const newSession = (id: string, epoch: number): SessionWrite => ({
  sessionId: id,
  epoch,
  after: 0,
  header: { id, agentName: 'a', tags: ['x'], status: 'waiting', isOpen: false, createdAt: 1, updatedAt: 1, details: '{}' },
  entries: [{ n: 1, at: 1, isSnapshot: true, requestId: 'r', body: '1' }],
  effects: [{ key: 'a', phase: 'intent', body: '1' }],
});

let folder = '';
let raw: DatabaseSync;
let store: SessionStore;
let epoch = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepline-mail-'));
  const path = join(folder, 'sessions.db');
  store = sqliteStore({ path });
  epoch = await store.claim();
  for (const id of ['one', 'gone', 'two', 'off']) await store.write(newSession(id, epoch));
  for (const id of ['gone', 'off']) await store.delete({ sessionId: id, epoch, at: 5000 });
  for (const requestId of ['a', 'b', 'c']) await store.post({ sessionId: 'one', requestId, at: 1, body: '{}' });
  for (const id of ['h', 'i', 'j']) await store.putHold({ id, at: 1, body: '{}' });
  raw = new DatabaseSync(path);
});

afterEach(async () => {
  raw.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const damage = (statement: string): void => expect(raw.prepare(statement).run().changes).toBe(1);
const listRequests = async (): Promise<string> => (await store.readMail()).map(({ requestId }) => requestId).join('');

/** Asserts that sessions can be read and created, and that nothing is said of their damage. */
async function expectIntactSessions(): Promise<void> {
  expect((await store.list()).sessions.map(({ id, damage: found }) => [id, found])).toStrictEqual([
    ['two', undefined],
    ['one', undefined],
  ]);
  expect([(await store.load('one'))?.head, (await store.load('two'))?.head]).toStrictEqual([1, 1]);
  await store.write(newSession('new', epoch));
  await store.write({ sessionId: 'one', epoch, after: 1, entries: [{ n: 2, at: 1, isSnapshot: false, body: '2' }] });
  expect((await store.load('new'))?.head).toBe(1);
}

test.each([
  'UPDATE mail SET body = 1 WHERE num = 2',
  "UPDATE mail SET request_id = 'a' WHERE num = 2",
  "UPDATE mail SET session_id = 'two' WHERE num = 2",
  'UPDATE mail SET num = 1 << 60 WHERE num = 2',
  'UPDATE mail SET num = -1 WHERE num = 2',
  'UPDATE mail SET at = 1 << 60 WHERE num = 2',
  "UPDATE mail SET reply = '{}' WHERE num = 2",
  'UPDATE mail SET sum = 1 << 60 WHERE num = 2',
  'DELETE FROM mail WHERE num = 2',
])('a damaged mail is not applied, can be posted again, and harms no other: %s', async (statement) => {
  damage(statement);
  expect([await listRequests(), (await store.readMail({ limit: 2 })).length]).toStrictEqual(['ac', 2]);
  expect(await store.readMail({ sessionId: 'two' })).toStrictEqual([]);
  await store.answerMail({ epoch, num: 2, reply: '{}' });
  expect((await store.post({ sessionId: 'one', requestId: 'b', at: 1, body: '{}' })).num).toBe(4);
  expect((await store.post({ sessionId: 'one', requestId: 'a', at: 1, body: '{}' })).num).toBe(1);
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
    await expect(store.load(id)).rejects.toMatchObject({ code: 'session-deleted', sessionId: id });
    await expect(store.write(newSession(id, epoch))).rejects.toMatchObject({ code: 'session-deleted' });
    await expect(store.post({ sessionId: id, requestId: 'r', at: 1, body: '{}' })).rejects.toMatchObject({ code: 'session-deleted' });
    expect(await store.entries(id)).toStrictEqual([]);
  }
  await expectIntactSessions();
  for (const sessionId of ['gone', 'one']) await store.delete({ sessionId, epoch, at: 6000 });
  await expect(store.load('one')).rejects.toMatchObject({ code: 'session-deleted', deletedAt: 6000 });
  await expect(store.load('gone')).rejects.toMatchObject({ code: 'session-deleted' });
});

test.each([
  "UPDATE holds SET body = '[]' WHERE id = 'i'",
  "UPDATE holds SET id = 'k' WHERE id = 'i'",
  "UPDATE holds SET at = 1 << 60 WHERE id = 'i'",
  "UPDATE holds SET sum = 1 << 60 WHERE id = 'i'",
])('a damaged hold harms no other, and can be replaced: %s', async (statement) => {
  damage(statement);
  expect((await store.readHolds()).map(({ id }) => id)).toStrictEqual(['h', 'j']);
  await store.putHold({ id: 'i', at: 0, body: '{}' });
  expect((await store.readHolds()).map(({ id }) => id)).toStrictEqual(['i', 'h', 'j']);
  expect(await store.dropHold('i')).toBe(true);
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
  const before = await store.load('one');
  await store.delete({ sessionId: 'two', epoch, at: 6000 });
  await expect(store.load('two')).rejects.toMatchObject({ code: 'session-deleted' });
  expect(await store.load('one')).toStrictEqual(before);
  expect((await store.list()).sessions).toMatchObject([{ id: 'one' }]);
  expect(raw.prepare('SELECT count(*) AS count FROM heads').get()).toStrictEqual({ __proto__: null, count: 1 });
});

test('the entry that cannot be read is not rewritten', async () => {
  damage("UPDATE log SET body = 'x' WHERE session = 3");
  const rewrite = { sessionId: 'two', epoch, after: 1, entries: [{ n: 1, body: '""' }] };
  await expect(store.rewrite(rewrite)).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
  expect(raw.prepare('SELECT body FROM log WHERE session = 3').get()).toMatchObject({ body: 'x' });
});

test('damage to a row of the open step is reported where rows are read by their keys', async () => {
  damage('UPDATE effects SET body = 9 WHERE session = 3');
  await expect(store.effects('two', { prefix: 'a' })).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
  await expect(store.effects('two')).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
  expect((await store.effects('two', { prefix: 'b' }))?.effects).toStrictEqual([]);
});
