import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { sessionStoreConformance } from '../../testing/index.ts';
import type { SessionHeader, SessionStore, SessionWrite } from '../index.ts';
import { withChecksum } from '../table/index.ts';
import type { SqliteDatabase } from './index.ts';
import { sqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-sqlite-'));
let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const createHeader = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'a',
  agentRelease: '1',
  format: 1,
  tags: [],
  status: 'in_progress',
  isOpen: true,
  createdAt: 1,
  updatedAt: 1,
  details: '{}',
  ...changes,
});
const held = { lease: { worker: 'w', fence: 1, type: 'held' }, keepsLease: true } as const;
const making = (id: string): SessionWrite => ({
  ...{ sessionId: id, lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: true, after: 0 },
  header: createHeader(id),
  entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
});
const adding = (id: string, n: number): SessionWrite => ({
  ...{ ...held, sessionId: id, after: n - 1 },
  entries: [{ n, at: n, isSnapshot: false, body: String(n) }],
});
const effect = (id: string, key: string): SessionWrite => ({
  ...{ ...held, sessionId: id, after: 1 },
  effects: [{ key, phase: 'result', body: '1' }],
});
const joinWorker = (store: SessionStore, id = 'w'): Promise<void> => store.leases.join({ id, joinedAt: 1, agents: ['a'] }, { room: 1 });

/** A database that tells which statements ran, and fails if it is told to. */
function openWatched(
  path: string,
  failing: (sql: string) => Error | undefined = () => undefined,
): { database: SqliteDatabase; ran: string[] } {
  const inner = new DatabaseSync(path);
  const ran: string[] = [];
  const before = (sql: string): void => {
    ran.push(sql);
    const error = failing(sql);
    if (error !== undefined) throw error;
  };
  const database: SqliteDatabase = {
    exec: (sql) => inner.exec(sql),
    close: () => inner.close(),
    prepare: (sql) => {
      // Neither better-sqlite3 nor Node before 24.7 knows numbered parameters.
      if (/\?\d/.test(sql)) throw new Error(`numbered parameter in ${sql}`);
      const statement = inner.prepare(sql);
      return {
        run: (...values) => (before(sql), statement.run(...values)),
        get: (...values) => (before(sql), statement.get(...values)),
        all: (...values) => (before(sql), statement.all(...values)),
      };
    },
  };
  return { database, ran };
}

const countStatements = (ran: readonly string[], start: string): number => ran.filter((sql) => sql.startsWith(start)).length;
const query = (path: string, sql: string): unknown => {
  const database = new DatabaseSync(path);
  try {
    return database.prepare(sql).get();
  } finally {
    database.close();
  }
};

describe('the SQLite store on a file', () => {
  test.each(
    sessionStoreConformance(() => {
      const path = newPath();
      return Promise.resolve({ open: () => Promise.resolve(sqliteStore({ path })) });
    }),
  )('$port: $name', ({ run }) => run());
});

describe('the SQLite store on a database that it is given', () => {
  test.each(
    sessionStoreConformance(() => {
      const path = newPath();
      return Promise.resolve({ open: () => Promise.resolve(sqliteStore({ database: openWatched(path).database })) });
    }),
  )('$port: $name', ({ run }) => run());

  test('closes it, used or not', async () => {
    const { database } = openWatched(newPath());
    await sqliteStore({ database }).close();
    expect(() => database.exec('SELECT 1')).toThrow('database is not open');
  });
});

describe('group commit', () => {
  test('stores what was asked for in one turn in one transaction (W1)', async () => {
    const { database, ran } = openWatched(newPath());
    const store = sqliteStore({ database });
    await joinWorker(store);
    ran.length = 0;
    await Promise.all(Array.from({ length: 50 }, (_, index) => store.log.write(making(`s${index}`))));
    expect([countStatements(ran, 'BEGIN IMMEDIATE'), countStatements(ran, 'COMMIT')]).toStrictEqual([1, 1]);
    await store.close();
  });

  test('does not store effects that the same batch drops (G2)', async () => {
    const { database, ran } = openWatched(newPath());
    const store = sqliteStore({ database });
    await joinWorker(store);
    await store.log.write(making('s'));
    ran.length = 0;
    await Promise.all([
      store.log.write(effect('s', 'a')),
      store.log.write(effect('s', 'b')),
      store.log.write({ ...adding('s', 2), clearsEffects: true, header: createHeader('s', { updatedAt: 2 }) }),
    ]);
    expect(ran.filter((sql) => /^(INSERT|UPDATE|DELETE)/.test(sql)).map((sql) => sql.split(/ SET| \(/)[0])).toStrictEqual([
      'UPDATE sessions',
      'INSERT INTO log',
      'UPDATE heads',
    ]);
    await store.close();
  });

  test('touches no tags and no index where a header says only another time', async () => {
    const { database, ran } = openWatched(newPath());
    const store = sqliteStore({ database });
    await joinWorker(store);
    await store.log.write({ ...making('s'), header: createHeader('s', { tags: ['x'] }) });
    ran.length = 0;
    await store.log.write({ ...held, sessionId: 's', after: 1, header: createHeader('s', { tags: ['x'], updatedAt: 9, details: '[]' }) });
    expect(ran.filter((sql) => /^(INSERT|UPDATE|DELETE)/.test(sql))).toStrictEqual([
      'UPDATE sessions SET updated_at = ?, details = ?, sum = ? WHERE num = ?',
    ]);
    expect((await store.log.load('s'))?.header).toStrictEqual(createHeader('s', { tags: ['x'], updatedAt: 9, details: '[]' }));
    await store.close();
  });

  test('rejects every write of a transaction that fails, and can be used afterwards (W3)', async () => {
    let isBroken = false;
    const ioError = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
    const { database } = openWatched(newPath(), (sql) => (isBroken && sql === 'COMMIT' ? ioError : undefined));
    const store = sqliteStore({ database });
    await joinWorker(store);
    isBroken = true;
    const settled = await Promise.allSettled([
      store.log.write(making('a')),
      store.log.write(making('b')),
      store.inbox.post({ sessionId: 'a', requestId: 'r', at: 1, body: '' }),
    ]);
    isBroken = false;
    expect(settled.map((each) => each.status === 'rejected' && (each.reason as { problem: string }).problem)).toStrictEqual(
      Array(3).fill('failed'),
    );
    expect((await store.heads.list()).sessions).toStrictEqual([]);
    await store.log.write(making('a'));
    expect((await store.log.load('a'))?.head).toBe(1);
    await store.close();
  });

  test('finds the one write that cannot be stored, and stores the others', async () => {
    const store = sqliteStore({ path: newPath() });
    await joinWorker(store);
    // What no type lets through, and SQLite cannot bind.
    const unbindable = { ...making('bad'), entries: [{ n: 1, at: 1, isSnapshot: true, body: {} as string }] };
    const settled = await Promise.allSettled([making('a'), unbindable, making('b')].map((write) => store.log.write(write)));
    expect(settled.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['b', 'a']);
    await store.close();
  });
});

describe('a store that cannot be used', () => {
  test('says that there is no room, and goes on when there is', async () => {
    const inner = new DatabaseSync(newPath());
    const store = sqliteStore({ database: inner });
    await joinWorker(store);
    const { page_count: pages } = inner.prepare('PRAGMA page_count').get() as { page_count: number };
    inner.exec(`PRAGMA max_page_count = ${pages + 5}`);
    const large = { ...making('large'), header: createHeader('large', { details: 'x'.repeat(100_000) }) };
    const settled = await Promise.allSettled([store.log.write(making('a')), store.log.write(large)]);
    expect(settled.map((each) => each.status === 'rejected' && (each.reason as { problem: string }).problem)).toStrictEqual([
      'full',
      'full',
    ]);
    await store.log.write(making('a'));
    inner.exec('PRAGMA max_page_count = 100000');
    await store.log.write(large);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['large', 'a']);
    await store.close();
  });

  test('says that it can only be read, and can be read', async () => {
    const path = newPath();
    const writable = sqliteStore({ path });
    await joinWorker(writable);
    await writable.log.write(making('s'));
    await writable.close();
    const store = sqliteStore({ database: new DatabaseSync(path, { readOnly: true }) });
    expect((await store.log.load('s'))?.head).toBe(1);
    await expect(joinWorker(store)).rejects.toMatchObject({ code: 'store-unavailable', problem: 'read-only' });
    await store.close();
  });

  test('says that another process holds it, and goes on when it does not', async () => {
    const path = newPath();
    const store = sqliteStore({ path, busyTimeoutMs: 1 });
    await joinWorker(store);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.log.write(making('s'))).rejects.toMatchObject({ problem: 'busy' });
    other.exec('ROLLBACK');
    other.close();
    await store.log.write(making('s'));
    await store.close();
  });

  test.each([
    ['newer-schema', 1, 'Update Stepline.'],
    ['older-schema', -1, 'It cannot be upgraded: start with a new file or database.'],
  ])('leaves a store of another release as it is: %s', async (problem, difference, advice) => {
    const path = newPath();
    await joinWorker(sqliteStore({ path }));
    const { schemaVersion } = await import('./tables.ts');
    const database = new DatabaseSync(path);
    const [, value = null, sum = null] = withChecksum('meta', ['schema', schemaVersion + difference]);
    database.prepare("UPDATE meta SET value = ?, sum = ? WHERE name = 'schema'").run(value, sum);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const before = readFileSync(path);
    const message = expect.stringContaining(`Nothing was changed. ${advice}`) as string;
    await expect(sqliteStore({ path }).log.load('s')).rejects.toMatchObject({ problem, message });
    await expect(sqliteStore({ path }).log.write(making('s'))).rejects.toMatchObject({ problem });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each(['not-a-database', 'journal_mode = DELETE', 'journal_mode = WAL'])('leaves what is no store as it is: %s', async (kind) => {
    const path = newPath();
    if (kind === 'not-a-database') writeFileSync(path, 'this is a text, and long enough to be looked at.'.repeat(50));
    else {
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA ${kind}; CREATE TABLE meta (name TEXT, value TEXT); INSERT INTO meta VALUES ('schema', '1')`);
      database.close();
    }
    const before = readFileSync(path);
    await expect(joinWorker(sqliteStore({ path }))).rejects.toMatchObject({ code: 'store-unavailable', problem: 'not-a-store' });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test.each([
    ['a folder', folder],
    ['a file in no folder', join(folder, 'none', 'x.db')],
  ])('refuses %s', async (_, path) => {
    await expect(sqliteStore({ path }).heads.list()).rejects.toMatchObject({ problem: 'not-a-store' });
  });

  test('tries to open again when it is asked again', async () => {
    const path = newPath();
    writeFileSync(path, 'no database at all'.repeat(99));
    const store = sqliteStore({ path });
    await expect(joinWorker(store)).rejects.toMatchObject({ problem: 'not-a-store' });
    rmSync(path);
    await joinWorker(store);
    expect(await store.leases.workers()).toHaveLength(1);
    await store.close();
  });
});

describe('leases', () => {
  const claim = { worker: 'w', limit: 9, agents: [{ name: 'a' }], maxFormat: 1, now: 1 };

  test('are changed without waiting for the disk, and the writes after that wait again (W4)', async () => {
    const { database, ran } = openWatched(newPath());
    const store = sqliteStore({ database });
    await joinWorker(store);
    await store.log.write({ ...making('s'), keepsLease: false });
    ran.length = 0;
    await store.leases.claim(claim);
    await store.log.write({ ...adding('s', 2), lease: { ...held.lease, fence: 2 } });
    expect(ran.filter((sql) => /^(PRAGMA synchronous|BEGIN|COMMIT)/.test(sql))).toStrictEqual([
      'PRAGMA synchronous = NORMAL',
      'BEGIN IMMEDIATE',
      'COMMIT',
      'PRAGMA synchronous = FULL',
      'BEGIN IMMEDIATE',
      'COMMIT',
    ]);
    await store.close();
  });

  test('are known as they are after each way to change them (G3)', async () => {
    const store = sqliteStore({ path: newPath() });
    await joinWorker(store);
    await store.log.write({ ...making('s'), keepsLease: false });
    for (const fence of [2, 4, 6]) {
      expect((await store.leases.claim(claim)).sessions).toMatchObject([{ fence }]);
      const lease = { ...held.lease, fence };
      await store.log.write({ ...held, lease, sessionId: 's', after: 1, isStepping: true });
      if (fence === 2) await store.leases.leave('w', ['s']);
      else {
        await store.leases.free({ worker: 'w', beats: 1 });
        await expect(store.log.write({ ...making('t'), keepsLease: true })).rejects.toMatchObject({ code: 'lease-lost' });
        await joinWorker(store);
      }
      await expect(store.log.write({ ...held, lease, sessionId: 's', after: 1 })).rejects.toMatchObject({ code: 'lease-lost' });
      expect(await store.heads.read('s')).toMatchObject({ fence: fence + 1, attempts: fence === 2 ? 0 : fence / 2 - 1 });
    }
    await store.leases.join({ id: 'v', joinedAt: 1, agents: ['a'] }, { room: 1, before: 'w' });
    await store.log.write({ sessionId: 's', lease: { worker: 'v', fence: 7, type: 'free' }, keepsLease: true, after: 1 });
    expect(await store.heads.read('s')).toMatchObject({ fence: 8, attempts: 1, worker: 'v' });
    await store.close();
  });

  test('are claimed by indexes: sessions at rest cost nothing, and ready ones of a tenant little', async () => {
    const inner = new DatabaseSync(':memory:');
    const claims = new Set<string>();
    const database: SqliteDatabase = {
      exec: (sql) => inner.exec(sql),
      close: () => inner.close(),
      prepare: (sql) => {
        if (sql.includes('ask(json)')) claims.add(sql);
        return inner.prepare(sql);
      },
    };
    const store = sqliteStore({ database });
    await joinWorker(store);
    await store.leases.claim(claim);
    await store.leases.claim({ ...claim, sessionIds: ['s'] });
    expect(claims.size).toBe(8);
    for (const sql of claims) {
      const plan = inner
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all('{}')
        .map((row) => String(row['detail']));
      expect(plan.filter((step) => /^SCAN (heads|sessions|workers|quarantine|[hsrf])\b/.test(step))).toStrictEqual([]);
      expect(plan.filter((step) => step.includes('sessions_agent'))).toStrictEqual([]);
    }
    await store.close();
  });
});

describe('the file', () => {
  test('is not made before the store is used', async () => {
    const path = newPath();
    await sqliteStore({ path }).close();
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });

  test('is in WAL mode, and each write waits for the disk', async () => {
    const path = newPath();
    const inner = new DatabaseSync(path);
    const store = sqliteStore({ database: inner });
    await joinWorker(store);
    expect([query(path, 'PRAGMA journal_mode'), inner.prepare('PRAGMA synchronous').get()]).toMatchObject([
      { journal_mode: 'wal' },
      { synchronous: 2 },
    ]);
    await store.close();
  });
});
