import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { sessionStoreConformance } from '../../testing/index.ts';
import type { SessionHeader, SessionWrite } from '../index.ts';
import type { SqliteDatabase } from './index.ts';
import { sqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-sqlite-'));
let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const createHeader = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'a',
  tags: [],
  status: 'in_progress',
  isOpen: true,
  createdAt: 1,
  updatedAt: 1,
  details: '{}',
  ...changes,
});
const making = (id: string, epoch: number): SessionWrite => ({
  sessionId: id,
  epoch,
  after: 0,
  header: createHeader(id),
  entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
});
const adding = (id: string, epoch: number, n: number): SessionWrite => ({
  sessionId: id,
  epoch,
  after: n - 1,
  entries: [{ n, at: n, isSnapshot: false, body: String(n) }],
});
const effect = (id: string, epoch: number, key: string): SessionWrite => ({
  sessionId: id,
  epoch,
  after: 1,
  effects: [{ key, phase: 'result', body: '1' }],
});

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
  )('$name', ({ run }) => run());
});

describe('the SQLite store on a database that it is given', () => {
  test.each(
    sessionStoreConformance(() => {
      const path = newPath();
      return Promise.resolve({ open: () => Promise.resolve(sqliteStore({ database: openWatched(path).database })) });
    }),
  )('$name', ({ run }) => run());

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
    const epoch = await store.claims.claim();
    ran.length = 0;
    await Promise.all(Array.from({ length: 50 }, (_, index) => store.log.write(making(`s${index}`, epoch))));
    expect([countStatements(ran, 'BEGIN IMMEDIATE'), countStatements(ran, 'COMMIT')]).toStrictEqual([1, 1]);
    await store.close();
  });

  test('does not store effects that the same batch drops (G2)', async () => {
    const { database, ran } = openWatched(newPath());
    const store = sqliteStore({ database });
    const epoch = await store.claims.claim();
    await store.log.write(making('s', epoch));
    ran.length = 0;
    await Promise.all([
      store.log.write(effect('s', epoch, 'a')),
      store.log.write(effect('s', epoch, 'b')),
      store.log.write({ ...adding('s', epoch, 2), clearsEffects: true, header: createHeader('s', { updatedAt: 2 }) }),
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
    const epoch = await store.claims.claim();
    await store.log.write({ ...making('s', epoch), header: createHeader('s', { tags: ['x'] }) });
    ran.length = 0;
    await store.log.write({ sessionId: 's', epoch, after: 1, header: createHeader('s', { tags: ['x'], updatedAt: 9, details: '[]' }) });
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
    const epoch = await store.claims.claim();
    isBroken = true;
    const settled = await Promise.allSettled([
      store.log.write(making('a', epoch)),
      store.log.write(making('b', epoch)),
      store.claims.claim(),
    ]);
    isBroken = false;
    expect(settled.map((each) => each.status === 'rejected' && (each.reason as { problem: string }).problem)).toStrictEqual(
      Array(3).fill('failed'),
    );
    expect((await store.heads.list()).sessions).toStrictEqual([]);
    await store.log.write(making('a', epoch));
    expect((await store.log.load('a'))?.head).toBe(1);
    await store.close();
  });

  test('finds the one write that cannot be stored, and stores the others', async () => {
    const store = sqliteStore({ path: newPath() });
    const epoch = await store.claims.claim();
    // What no type lets through, and SQLite cannot bind.
    const unbindable = { ...making('bad', epoch), entries: [{ n: 1, at: 1, isSnapshot: true, body: {} as string }] };
    const settled = await Promise.allSettled([making('a', epoch), unbindable, making('b', epoch)].map((write) => store.log.write(write)));
    expect(settled.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['b', 'a']);
    await store.close();
  });
});

describe('a store that cannot be used', () => {
  test('says that there is no room, and goes on when there is', async () => {
    const inner = new DatabaseSync(newPath());
    const store = sqliteStore({ database: inner });
    const epoch = await store.claims.claim();
    const { page_count: pages } = inner.prepare('PRAGMA page_count').get() as { page_count: number };
    inner.exec(`PRAGMA max_page_count = ${pages + 5}`);
    const large = { ...making('large', epoch), header: createHeader('large', { details: 'x'.repeat(100_000) }) };
    const settled = await Promise.allSettled([store.log.write(making('a', epoch)), store.log.write(large)]);
    expect(settled.map((each) => each.status === 'rejected' && (each.reason as { problem: string }).problem)).toStrictEqual([
      'full',
      'full',
    ]);
    await store.log.write(making('a', epoch));
    inner.exec('PRAGMA max_page_count = 100000');
    await store.log.write(large);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['large', 'a']);
    await store.close();
  });

  test('says that it can only be read, and can be read', async () => {
    const path = newPath();
    const writable = sqliteStore({ path });
    const epoch = await writable.claims.claim();
    await writable.log.write(making('s', epoch));
    await writable.close();
    const store = sqliteStore({ database: new DatabaseSync(path, { readOnly: true }) });
    expect((await store.log.load('s'))?.head).toBe(1);
    await expect(store.claims.claim()).rejects.toMatchObject({ code: 'store-unavailable', problem: 'read-only' });
    await store.close();
  });

  test('says that another process holds it, and goes on when it does not', async () => {
    const path = newPath();
    const store = sqliteStore({ path, busyTimeoutMs: 1 });
    const epoch = await store.claims.claim();
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.log.write(making('s', epoch))).rejects.toMatchObject({ problem: 'busy' });
    other.exec('ROLLBACK');
    other.close();
    await store.log.write(making('s', epoch));
    await store.close();
  });

  test.each([
    ['newer-schema', 1],
    ['older-schema', -1],
  ])('leaves a store of another release as it is: %s', async (problem, difference) => {
    const path = newPath();
    await sqliteStore({ path }).claims.claim();
    const { schemaVersion, withChecksum } = await import('./tables.ts');
    const database = new DatabaseSync(path);
    const [, value = null, sum = null] = withChecksum('meta', ['schema', schemaVersion + difference]);
    database.prepare("UPDATE meta SET value = ?, sum = ? WHERE name = 'schema'").run(value, sum);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const before = readFileSync(path);
    await expect(sqliteStore({ path }).log.load('s')).rejects.toMatchObject({ problem });
    await expect(sqliteStore({ path }).log.write(making('s', 1))).rejects.toMatchObject({ problem });
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
    await expect(sqliteStore({ path }).claims.claim()).rejects.toMatchObject({ code: 'store-unavailable', problem: 'not-a-store' });
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
    await expect(store.claims.claim()).rejects.toMatchObject({ problem: 'not-a-store' });
    rmSync(path);
    expect(await store.claims.claim()).toBe(1);
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
    await store.claims.claim();
    expect([query(path, 'PRAGMA journal_mode'), inner.prepare('PRAGMA synchronous').get()]).toMatchObject([
      { journal_mode: 'wal' },
      { synchronous: 2 },
    ]);
    await store.close();
  });
});
