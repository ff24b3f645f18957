import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { SessionWrite } from '../index.ts';
import type { SqliteDatabase } from './index.ts';
import { sqliteStore } from './index.ts';

/** A database in memory that records which statements ran. */
function recordStatements(): { readonly database: SqliteDatabase; readonly ran: string[] } {
  const inner = new DatabaseSync(':memory:');
  const ran: string[] = [];
  const database: SqliteDatabase = {
    exec: (sql) => inner.exec(sql),
    close: () => inner.close(),
    prepare: (sql) => {
      const statement = inner.prepare(sql);
      return {
        run: (...values) => (ran.push(sql), statement.run(...values)),
        get: (...values) => (ran.push(sql), statement.get(...values)),
        all: (...values) => (ran.push(sql), statement.all(...values)),
      };
    },
  };
  return { database, ran };
}

const newSession = (id: string): SessionWrite => ({
  ...{ sessionId: id, lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: false, after: 0 },
  header: {
    ...{ id, agentName: 'a', agentRelease: '1', format: 1, tags: [], status: 'in_progress', isOpen: true },
    ...{ createdAt: 1, updatedAt: 1, details: '{}' },
  },
  entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
});

test('a list does not look for lost headers in the log because of sessions that were deleted', async () => {
  const { database, ran } = recordStatements();
  const store = sqliteStore({ database });
  for (const id of ['a', 'b', 'c', 'd']) await store.log.write(newSession(id));
  for (const sessionId of ['b', 'd']) await store.log.delete({ sessionId, at: 1 });
  ran.length = 0;
  expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['c', 'a']);
  expect((await store.heads.list({ limit: 1 })).sessions.map(({ id }) => id)).toStrictEqual(['c']);
  expect(ran.filter((sql) => sql.includes('FROM log WHERE session_id IS NOT NULL'))).toStrictEqual([]);
  database.exec('DELETE FROM sessions WHERE num = 3');
  expect((await store.heads.list()).sessions).toMatchObject([{ id: 'c', damage: 'its header is missing' }, { id: 'a' }]);
  await store.close();
});

test('rows of the open step are read by their keys without the log', async () => {
  const { database, ran } = recordStatements();
  const store = sqliteStore({ database });
  await store.log.write({ ...newSession('s'), effects: [{ key: 'text/1', phase: 'result', body: '1' }] });
  ran.length = 0;
  expect((await store.log.effects('s', { prefix: 'text/' }))?.effects).toHaveLength(1);
  expect(ran.filter((sql) => /\blog\b/.test(sql))).toStrictEqual([]);
  await store.close();
});
