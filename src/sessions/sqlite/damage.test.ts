import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SessionHeader, SessionStore } from '../index.ts';
import { toHeaderValues } from '../index.ts';
import { sqliteStore } from './index.ts';

import { withChecksum } from '../table/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-damage-'));
const path = join(folder, 'sessions.db');
let raw: DatabaseSync;
let store: SessionStore;

const header = (id: string): SessionHeader => ({
  id,
  agentName: 'a',
  agentRelease: '1',
  format: 1,
  owner: 'o',
  tags: ['x', 'y'],
  status: 'waiting',
  isOpen: true,
  createdAt: 1,
  updatedAt: 1,
  details: '{}',
});

/** Lease of a worker for a session that is not there yet, and for one that it owns since then. */
const [free, held] = [
  { worker: 'w', fence: 0, type: 'free' },
  { worker: 'w', fence: 1, type: 'held' },
] as const;
const joinWorker = (to: SessionStore): Promise<void> => to.leases.join({ id: 'w', joinedAt: 1, agents: ['a'] }, { room: 1 });

beforeAll(async () => {
  store = sqliteStore({ path });
  await joinWorker(store);
  for (const id of ['one', 'two', 'three']) {
    await store.log.write({
      ...{ sessionId: id, lease: free, keepsLease: true, after: 0, header: header(id) },
      entries: [1, 2, 3, 4].map((n) => ({ n, at: n, isSnapshot: n % 2 === 1, requestId: `r${n}`, body: `${n}`, events: '[]', lastSeq: n })),
      effects: [
        { key: 'a', phase: 'intent', body: '1' },
        { key: 'a', phase: 'result', body: '2' },
      ],
    });
  }
  raw = new DatabaseSync(path);
});

afterAll(async () => {
  raw.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a time that no date has is the damage of its session, and the others are listed', async () => {
  const place = sqliteStore({ path: join(folder, 'times.db') });
  await joinWorker(place);
  const write = (id: string) =>
    place.log.write({
      ...{ sessionId: id, lease: free, keepsLease: true, after: 0, header: header(id) },
      entries: [{ n: 1, at: 1, isSnapshot: true, body: '{}' }],
    });
  await write('one');
  await write('two');
  const file = new DatabaseSync(join(folder, 'times.db'));
  const createdAt = 8.64e15 + 1;
  const sum = withChecksum('sessions', toHeaderValues(1, { ...header('one'), createdAt })).at(-1) ?? null;
  file.prepare('UPDATE sessions SET created_at = ?, sum = ? WHERE num = 1').run(createdAt, sum);
  file.close();
  const damage = expect.stringContaining('created_at') as string;
  expect((await place.heads.list()).sessions).toMatchObject([{ id: 'two' }, { id: 'one', damage }]);
  await expect(place.log.load('one')).rejects.toMatchObject({ code: 'session-damaged', damage });
  await expect(write('three')).resolves.toStrictEqual({ hasMail: false });
  await place.close();
});

/** Runs the work while the file is damaged, and puts it right again. */
async function whileDamaged(damage: string, work: () => Promise<void>): Promise<void> {
  const tables = ['sessions', 'heads', 'session_tags', 'log', 'effects'];
  for (const table of tables) raw.exec(`CREATE TEMP TABLE kept_${table} AS SELECT rowid AS row_number, * FROM ${table}`);
  expect(raw.prepare(damage).run().changes).toBe(1);
  try {
    await work();
  } finally {
    for (const table of tables) {
      const columns = (raw.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[])
        .map(({ name }) => name)
        .join();
      raw.exec(`DELETE FROM ${table}; INSERT INTO ${table} (rowid, ${columns}) SELECT row_number, ${columns} FROM kept_${table}`);
      raw.exec(`DROP TABLE kept_${table}`);
    }
  }
}

/** The damage of a session as each way of reading it reports it. */
async function readProblems(id: string): Promise<Readonly<Record<string, string>>> {
  const of = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => '',
      (error: unknown) => (error as { damage?: string }).damage ?? String(error),
    );
  return {
    load: await of(store.log.load(id)),
    entries: await of(store.log.entries(id)),
    list: (await store.heads.list()).sessions.find((each) => each.id === id)?.damage ?? '',
  };
}

const two = 'session = 2';
const headerSum = 'its header does not match its checksum';
const entrySum = (n: number): string => `entry ${n} does not match its checksum`;

describe('damage', () => {
  test.each([
    ['UPDATE sessions SET owner = NULL WHERE num = 2', { load: headerSum, entries: headerSum, list: headerSum }],
    ['UPDATE sessions SET is_open = 1 << 60 WHERE num = 2', { load: 'a number in it is too large', list: headerSum }],
    ["UPDATE sessions SET id = 'twx' WHERE num = 2", { load: 'its header is missing', entries: 'its header is missing', list: headerSum }],
    ['UPDATE sessions SET num = 9 WHERE num = 2', { load: headerSum, list: headerSum }],
    ['DELETE FROM sessions WHERE num = 2', { load: 'its header is missing', list: 'its header is missing' }],
    [`DELETE FROM heads WHERE ${two}`, { load: 'the number of its last entry is missing' }],
    [`UPDATE heads SET head = 3 WHERE ${two}`, { load: 'the number of its last entry does not match its checksum' }],
    [`UPDATE log SET body = '33' WHERE ${two} AND n = 3`, { load: entrySum(3), entries: entrySum(3), list: '' }],
    [`UPDATE log SET body = '33' WHERE ${two} AND n = 1`, { load: '', entries: entrySum(1) }],
    [`UPDATE log SET body = x'34' WHERE ${two} AND n = 4`, { load: entrySum(4) }],
    [`UPDATE log SET is_snapshot = 0 WHERE ${two} AND n = 3`, { load: entrySum(3) }],
    [`UPDATE log SET is_snapshot = 1 WHERE ${two} AND n = 4`, { load: entrySum(4) }],
    [`DELETE FROM log WHERE ${two} AND n = 4`, { load: 'entry 4 is missing', entries: 'entry 4 is missing' }],
    [`DELETE FROM log WHERE ${two} AND n = 1`, { load: '', entries: 'entry 1 is missing' }],
    [`UPDATE log SET n = 5 WHERE ${two} AND n = 3`, { load: 'entry 3 is missing' }],
    [`UPDATE log SET session = 3, n = 5, request_id = 'x' WHERE ${two} AND n = 4`, { load: 'entry 4 is missing' }],
    [`DELETE FROM effects WHERE ${two} AND k = 2`, { load: 'effect 2 of its open step is missing' }],
    [`DELETE FROM effects WHERE ${two} AND k = 1`, { load: 'effect 1 of its open step is missing' }],
    [`UPDATE effects SET body = '3' WHERE ${two} AND k = 2`, { load: 'effect 2 of its open step does not match its checksum' }],
    [`UPDATE effects SET session = 3, key = 'z' WHERE ${two} AND k = 2`, { load: 'effect 2 of its open step is missing' }],
    [`DELETE FROM session_tags WHERE ${two} AND tag = 'x'`, { load: 'the row of its tag "x" is damaged or missing' }],
    [`UPDATE session_tags SET tag = 'z' WHERE ${two} AND tag = 'x'`, { list: 'the row of its tag "x" is damaged or missing' }],
    [`UPDATE session_tags SET session = 4 WHERE ${two} AND tag = 'y'`, { list: 'the row of its tag "y" is damaged or missing' }],
  ])('is told of its session, and of no other: %s', async (damage, expected) => {
    const others = [await store.log.load('one'), await store.log.load('three')];
    await whileDamaged(damage, async () => {
      expect(await readProblems('two')).toMatchObject(expected);
      expect([await readProblems('one'), await readProblems('three')]).toStrictEqual(Array(2).fill({ load: '', entries: '', list: '' }));
      expect([await store.log.load('one'), await store.log.load('three')]).toStrictEqual(others);
      expect((await store.heads.list()).sessions.map(({ id }) => id).sort()).toStrictEqual(['one', 'three', 'two']);
      expect((await store.heads.list({ tag: 'z' })).sessions).toStrictEqual([]);
    });
    expect(await readProblems('two')).toStrictEqual({ load: '', entries: '', list: '' });
  });

  test.each([
    `UPDATE log SET last_seq = NULL WHERE ${two} AND n = 3`,
    `UPDATE log SET last_seq = 1 WHERE ${two} AND n = 3`,
    `DELETE FROM log WHERE ${two} AND n = 3`,
  ])('does not hide events from those who ask for later ones: %s', async (damage) => {
    await whileDamaged(damage, async () => {
      await expect(store.log.entries('two', { afterSeq: 2 })).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
      expect((await store.log.entries('two', { afterSeq: 3, from: 4 })).map(({ n }) => n)).toStrictEqual([4]);
    });
  });

  test('is told where an answer is looked for', async () => {
    await whileDamaged(`UPDATE log SET body = '[]' WHERE ${two} AND n = 2`, async () => {
      await expect(store.log.findRequest('two', 'r2')).rejects.toMatchObject({ code: 'session-damaged', damage: entrySum(2) });
      expect((await store.log.findRequest('two', 'r1'))?.n).toBe(1);
    });
  });

  test.each([
    ['UPDATE sessions SET owner = NULL WHERE num = 2', { header: header('two') }],
    ['DELETE FROM sessions WHERE num = 2', {}],
    [`UPDATE heads SET head = 5 WHERE ${two}`, {}],
  ])('is not written over: %s', async (damage, change) => {
    await whileDamaged(damage, async () => {
      const before = raw.prepare('SELECT * FROM sessions, heads').all();
      const going = store.log.write({
        ...{ sessionId: 'two', lease: held, keepsLease: true, after: 4, ...change },
        effects: [{ key: 'q', phase: 'intent', body: '1' }],
      });
      await expect(going).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' });
      const anew = { lease: free, keepsLease: true, after: 0, header: header('two') };
      const entries = [{ n: 1, at: 1, isSnapshot: true, body: '1' }];
      await expect(store.log.write({ sessionId: 'two', ...anew, entries })).rejects.toMatchObject({ sessionId: 'two' });
      expect(raw.prepare('SELECT * FROM sessions, heads').all()).toStrictEqual(before);
    });
  });

  test.each([
    [`UPDATE heads SET fence = 9 WHERE ${two}`, 'lease-lost'],
    [`UPDATE heads SET owner = 'x' WHERE ${two}`, 'lease-lost'],
    [`UPDATE heads SET owner = NULL WHERE ${two}`, 'lease-lost'],
    [`UPDATE heads SET fence = 1 << 60 WHERE ${two}`, 'lease-lost'],
  ])('of the columns that say who may write stops writing, not reading: %s', async (damage, code) => {
    await whileDamaged(damage, async () => {
      await expect(store.log.write({ sessionId: 'two', lease: held, keepsLease: true, after: 4 })).rejects.toMatchObject({ code });
      expect(await readProblems('two')).toStrictEqual({ load: '', entries: '', list: '' });
    });
    await store.log.write({ sessionId: 'two', lease: held, keepsLease: true, after: 4 });
  });
});

describe('the row of a worker', () => {
  const claim = { worker: 'w', limit: 9, agents: [{ name: 'a' }], maxFormat: 1, now: 1 };

  test.each(["UPDATE workers SET body = '{'", "UPDATE workers SET body = '{}'", 'UPDATE workers SET id = NULL', 'DELETE FROM workers'])(
    'is removed if it is damaged: its sessions are freed, and it can join again: %s',
    async (damage) => {
      const place = sqliteStore({ path: join(folder, `${damage.length}.db`) });
      await joinWorker(place);
      for (const id of ['one', 'two'])
        await place.log.write({
          ...{ sessionId: id, lease: free, keepsLease: true, after: 0, header: header(id) },
          entries: [{ n: 1, at: 1, isSnapshot: true, body: '{}' }],
        });
      const file = new DatabaseSync(join(folder, `${damage.length}.db`));
      expect(file.prepare(damage).run().changes).toBe(1);
      file.close();
      expect([await place.leases.workers(), await place.leases.free(), await place.leases.beat('w', 1)]).toStrictEqual([[], 2, false]);
      await joinWorker(place);
      expect((await place.leases.claim(claim)).sessions.map(({ sessionId, fence }) => [sessionId, fence])).toStrictEqual([
        ['one', 3],
        ['two', 3],
      ]);
      await place.close();
    },
  );
});

test('a session that is damaged where it is claimed by keeps no other from being claimed', async () => {
  const path = join(folder, 'claims.db');
  const place = sqliteStore({ path });
  await joinWorker(place);
  const file = new DatabaseSync(path);
  const damages = [
    'UPDATE sessions SET format = 1 << 60 WHERE num = ?',
    'UPDATE sessions SET id = NULL WHERE num = ?',
    'UPDATE heads SET fence = 1 << 60 WHERE session = ?',
    'UPDATE heads SET head = 1 << 60 WHERE session = ?',
    "UPDATE heads SET ready_at = 'x' WHERE session = ?",
    'UPDATE heads SET tenant = NULL WHERE session = ?',
    'UPDATE heads SET session = 1 << 60 WHERE session = ?',
    'UPDATE heads SET wake_at = 1 << 60, is_ready = 0 WHERE session = ?',
    'DELETE FROM sessions WHERE num = ?',
    'DELETE FROM heads WHERE session = ?',
  ];
  for (const id of [...damages, 'good'])
    await place.log.write({
      ...{ sessionId: id, lease: free, keepsLease: false, after: 0, header: header(id) },
      entries: [{ n: 1, at: 1, isSnapshot: true, body: '{}' }],
    });
  for (const [index, damage] of damages.entries()) expect(file.prepare(damage).run(index + 1).changes).toBe(1);
  file.close();
  const { sessions } = await place.leases.claim({ worker: 'w', limit: 99, agents: [{ name: 'a' }], maxFormat: 1, now: 1 });
  expect(sessions.map(({ sessionId }) => sessionId)).toContain('good');
  await place.close();
});
