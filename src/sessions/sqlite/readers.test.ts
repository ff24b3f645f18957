import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { createFakeClock } from '../../testing/index.ts';
import type { SessionStore, SessionWrite, StoreChange } from '../index.ts';
import { sqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-readers-'));
let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newSession = (id: string): SessionWrite => ({
  ...{ sessionId: id, lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: false, after: 0 },
  header: {
    ...{ id, agentName: 'a', agentRelease: '1', format: 1, tags: ['x'], status: 'waiting', isOpen: false },
    ...{ createdAt: 1, updatedAt: 1, details: '' },
  },
  entries: [{ n: 1, at: 1, isSnapshot: true, requestId: 'r', body: '1' }],
});

/** Creates a store with a session, a deleted one, a mail and a note. */
async function createStore(path: string): Promise<SessionStore> {
  const store = sqliteStore({ path });
  await store.leases.join({ id: 'w', joinedAt: 1, agents: ['a'] }, { room: 1 });
  await store.log.write({ ...newSession('s'), effects: [{ key: 'k', phase: 'intent', body: '1' }] });
  await store.log.delete({ sessionId: 'gone', at: 1 });
  await store.inbox.post({ sessionId: 's', requestId: 'q', at: 1, body: '' });
  await store.notes.write({ name: 'h', version: 0, body: '' });
  return store;
}

const readAll = async (store: SessionStore): Promise<readonly unknown[]> => [
  (await store.log.load('s'))?.head,
  (await store.log.entries('s')).length,
  (await store.log.findRequest('s', 'r'))?.n,
  (await store.log.effects('s', { prefix: 'k' }))?.effects.length,
  (await store.heads.list({ tag: 'x' })).sessions.length,
  (await store.leases.workers()).length,
  await store.log.load('gone').catch((error: unknown) => (error as { code: string }).code),
  (await store.inbox.read()).length,
  (await store.notes.list({ prefix: '' })).length,
];
const everything = [1, 1, 1, 1, 1, 1, 'session-deleted', 1, 1];

describe('a reader', () => {
  test('opens and reads the file while another process writes, without waiting (O2)', async () => {
    const path = newPath();
    const writer = await createStore(path);
    const raw = new DatabaseSync(path);
    raw.exec('BEGIN IMMEDIATE');
    const reader = sqliteStore({ path, busyTimeoutMs: 0 });
    expect(await readAll(reader)).toStrictEqual(everything);
    await reader.close();
    raw.exec('COMMIT');
    raw.close();
    await writer.close();
  });

  test('changes nothing in the file', async () => {
    const path = newPath();
    await (await createStore(path)).close();
    const before = readFileSync(path);
    const reader = sqliteStore({ path });
    reader.changes.watch(() => undefined);
    await readAll(reader);
    await reader.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('reads everything from a database that it cannot write, and says so where it would', async () => {
    const path = newPath();
    const writer = await createStore(path);
    const clock = createFakeClock();
    const reader = sqliteStore({ database: new DatabaseSync(path, { readOnly: true }), clock });
    const heard: StoreChange[] = [];
    reader.changes.watch((change) => heard.push(change));
    expect(await readAll(reader)).toStrictEqual(everything);
    await writer.notes.write({ name: 'h', version: 1 });
    await clock.advance(100);
    expect(heard).toStrictEqual([{ hasMail: true }]);
    await expect(reader.inbox.post({ sessionId: 's', requestId: 'z', at: 1, body: '' })).rejects.toMatchObject({ problem: 'read-only' });
    await reader.close();
    await writer.close();
  });
});

describe('watching', () => {
  test('looks for changes of others every 100 ms, and only while somebody watches (V1)', async () => {
    const path = newPath();
    const clock = createFakeClock();
    const [store, other] = [sqliteStore({ path, clock }), sqliteStore({ path })];
    await store.heads.list();
    expect(clock.pendingTimers()).toBe(0);
    const heard: StoreChange[] = [];
    const stop = store.changes.watch((change) => heard.push(change));
    await store.heads.list();
    await clock.advance(100);
    await other.notes.write({ name: 'a', version: 0, body: '' });
    await other.notes.write({ name: 'b', version: 0, body: '' });
    await clock.advance(99);
    expect(heard).toStrictEqual([]);
    await clock.advance(1);
    await clock.advance(1000);
    expect(heard).toStrictEqual([{ hasMail: true }]);
    stop();
    expect(clock.pendingTimers()).toBe(0);
    await Promise.all([store.close(), other.close()]);
  });

  test('names the sessions that it has changed at once, and says whether any has mail or is ready', async () => {
    const clock = createFakeClock();
    const store = sqliteStore({ path: newPath(), clock });
    const heard: StoreChange[] = [];
    store.changes.watch((change) => heard.push(change));
    await Promise.all(['a', 'b'].map((id) => store.log.write(newSession(id))));
    await store.leases.join({ id: 'w', joinedAt: 1, agents: ['a'] }, { room: 1 });
    const mail = { requestId: 'q', at: 1, body: '' };
    await Promise.all([store.inbox.post({ ...mail, sessionId: 'a' }), store.inbox.post({ ...mail, sessionId: 'b' })]);
    const query = { worker: 'w', limit: 9, agents: [{ name: 'a' }], maxFormat: 1, now: 1 };
    expect((await store.leases.claim(query)).sessions).toHaveLength(2);
    const lease = { worker: 'w', fence: 2, type: 'held' } as const;
    await store.log.write({ sessionId: 'b', lease, keepsLease: true, after: 1, mail: { num: 1 } });
    await store.log.write({ sessionId: 'none', lease, keepsLease: true, after: 1 }).catch(() => undefined);
    await store.leases.leave('w', ['a']);
    await store.leases.leave('w');
    await store.log.delete({ sessionId: 'a', at: 1 });
    await new Promise(setImmediate);
    expect(heard).toStrictEqual([
      { sessionIds: ['a', 'b'], hasMail: false },
      { sessionIds: ['a', 'b'], hasMail: true },
      { sessionIds: ['b'], hasMail: false },
      { sessionIds: ['a'], hasMail: true },
      { sessionIds: ['b'], hasMail: true },
      { sessionIds: ['a'], hasMail: true },
    ]);
    await store.close();
    expect(clock.pendingTimers()).toBe(0);
  });
});
