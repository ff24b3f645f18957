import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { createFakeClock } from '../../testing/index.ts';
import type { SessionHeader, SessionStore } from '../index.ts';
import { sqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-erasure-'));
let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = 'what-nobody-may-find';
// Larger than a page, so that it has pages of its own.
const long = secret.repeat(1000);

const facts: Omit<SessionHeader, 'details'> = {
  ...{ id: 's', agentName: 'a', agentRelease: '1', format: 1, tags: [], status: 'waiting', isOpen: false },
  ...{ createdAt: 1, updatedAt: 1 },
};
/** Parts of a write that creates the session, and of later ones. */
const creating = { sessionId: 's', lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: true, after: 0 } as const;
const going = { ...creating, lease: { worker: 'w', fence: 1, type: 'held' } } as const;
const joinWorker = (store: SessionStore, id = 'w'): Promise<void> => store.leases.join({ id, joinedAt: 1, agents: ['a'] }, { room: 1 });

/** Names the files of a store that have the secret in them. */
const findSecret = (path: string): readonly string[] =>
  ['', '-wal', '-shm'].filter((end) => existsSync(path + end) && readFileSync(path + end).includes(secret));

/** Writes a session that has the secret in every text. */
async function writeSecrets(store: SessionStore): Promise<void> {
  await joinWorker(store);
  const header = { ...facts, owner: secret, tags: [secret] };
  const entry = (n: number) => ({ n, at: 1, isSnapshot: n === 1, requestId: `${secret}${n}`, body: long, events: secret });
  await store.log.write({ ...creating, header: { ...header, details: long }, entries: [entry(1), entry(2)] });
  await store.log.write({ ...going, after: 2, effects: [{ key: secret, phase: 'result', body: long }] });
  await store.log.write({ ...going, after: 2, clearsEffects: true, entries: [entry(3)] });
  await store.log.write({ ...going, after: 3, effects: [{ key: secret, phase: 'intent', body: secret }] });
  for (const requestId of [secret, `${secret}0`]) await store.inbox.post({ sessionId: 's', requestId, at: 1, body: secret });
  await store.log.write({ ...going, after: 3, mail: { num: 1, reply: secret } });
  await store.heads.quarantine('s', secret);
}

describe('the text of a deleted session', () => {
  test('is in no file when the deletion settles (E2)', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await writeSecrets(store);
    expect(findSecret(path)).not.toStrictEqual([]);
    await store.log.delete({ sessionId: 's', at: 1 });
    expect(findSecret(path)).toStrictEqual([]);
    await store.close();
  });

  test('is in no file after a checkpoint had brought it into the database', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await writeSecrets(store);
    await joinWorker(store, 'v');
    expect(findSecret(path)).toStrictEqual(['']);
    await store.log.delete({ sessionId: 's', at: 1 });
    expect(findSecret(path)).toStrictEqual([]);
    await store.close();
  });

  test('goes once nobody reads what was there before (E3)', async () => {
    const path = newPath();
    const clock = createFakeClock();
    const store = sqliteStore({ path, clock });
    await writeSecrets(store);
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM log').get();
    await store.log.delete({ sessionId: 's', at: 1 });
    await clock.advance(1000);
    expect(findSecret(path)).not.toStrictEqual([]);
    reader.exec('COMMIT');
    await clock.advance(1000);
    expect([findSecret(path), clock.pendingTimers()]).toStrictEqual([[], 0]);
    reader.close();
    await store.close();
  });

  test('goes when the store is closed, also if others have the file open', async () => {
    const path = newPath();
    const clock = createFakeClock();
    const store = sqliteStore({ path, clock });
    await writeSecrets(store);
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM log').get();
    await store.log.delete({ sessionId: 's', at: 1 });
    reader.exec('COMMIT');
    await store.close();
    expect([findSecret(path), clock.pendingTimers()]).toStrictEqual([[], 0]);
    reader.close();
  });
});

describe('text that was rewritten', () => {
  test('is in no file', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await joinWorker(store);
    const entry = { n: 1, at: 1, isSnapshot: true, body: long, events: secret };
    await store.log.write({ ...creating, header: { ...facts, details: secret }, entries: [entry] });
    await store.log.write({ ...going, after: 1, header: { ...facts, details: '' }, rewrites: [{ n: 1, body: '""' }] });
    expect(findSecret(path)).toStrictEqual([]);
    await store.close();
  });

  test('is in no file if only a refused mail had it', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await joinWorker(store);
    await store.log.write({ ...creating, header: { ...facts, details: '' }, entries: [{ n: 1, at: 1, isSnapshot: true, body: '' }] });
    await store.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: long });
    await store.log.write({ ...going, after: 1, mail: { num: 1, reply: secret } });
    expect(findSecret(path)).not.toStrictEqual([]);
    await store.log.write({ ...going, after: 1, dropsMail: [1] });
    expect(findSecret(path)).toStrictEqual([]);
    await store.close();
  });
});
