// Damage to rows is reported for the session that it belongs to (T5, Q1, Q2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SessionHeader, SessionStore } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { free, header as plainHeader, join, touching } from './samples.ts';

const { pool, newPlace } = usePool();
const { schema, open } = newPlace();
let store: SessionStore;

const header = (id: string): SessionHeader => plainHeader(id, { owner: 'o', tags: ['x', 'y'], status: 'waiting' });

const inSchema = (text: string): string => text.replace(/\b(UPDATE|FROM|INTO) (\w+)/, `$1 ${schema}.$2`);

beforeAll(async () => {
  store = open();
  await join(store);
  for (const id of ['one', 'two', 'three']) {
    await store.log.write({
      ...{ sessionId: id, lease: free(0), keepsLease: true, after: 0 },
      header: header(id),
      entries: [1, 2, 3, 4].map((n) => ({
        n,
        at: n,
        isSnapshot: n % 2 === 1,
        requestId: `r${String(n)}`,
        body: String(n),
        events: '[]',
        lastSeq: n,
      })),
      effects: [
        { key: 'a', phase: 'intent', body: '1' },
        { key: 'a', phase: 'result', body: '2' },
      ],
    });
  }
});
afterAll(() => store.close());

const tables = ['sessions', 'heads', 'session_tags', 'log', 'effects'];

/** Runs the work while a row is damaged, and repairs it. */
async function whileDamaged(damage: string, work: () => Promise<void>): Promise<void> {
  for (const table of tables) await pool().query(`CREATE TABLE ${schema}.kept_${table} AS SELECT * FROM ${schema}.${table}`);
  expect((await pool().query(inSchema(damage))).rowCount).toBe(1);
  try {
    await work();
  } finally {
    for (const table of tables) {
      await pool().query(
        `DELETE FROM ${schema}.${table}; INSERT INTO ${schema}.${table} SELECT * FROM ${schema}.kept_${table}; DROP TABLE ${schema}.kept_${table}`,
      );
    }
  }
}

/** Damage of a session as each way of reading it reports it. */
async function readDamage(id: string): Promise<Readonly<Record<string, string>>> {
  const find = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => '',
      (error: unknown) => (error as { damage?: string }).damage ?? String(error),
    );
  return {
    load: await find(store.log.load(id)),
    entries: await find(store.log.entries(id)),
    list: (await store.heads.list()).sessions.find((each) => each.id === id)?.damage ?? '',
  };
}

const two = 'session = 2';
const headerSum = 'its header does not match its checksum';
const entrySum = (n: number): string => `entry ${String(n)} does not match its checksum`;

describe('damage', () => {
  test.each([
    ['UPDATE sessions SET owner = NULL WHERE num = 2', { load: headerSum, entries: headerSum, list: headerSum }],
    ["UPDATE sessions SET updated_at = 'NaN' WHERE num = 2", { load: headerSum, list: headerSum }],
    ["UPDATE sessions SET id = 'twx' WHERE num = 2", { load: 'its header is missing', entries: 'its header is missing', list: headerSum }],
    ['UPDATE sessions SET num = 9 WHERE num = 2', { load: headerSum, list: headerSum }],
    ['UPDATE sessions SET sum = 9007199254740993 WHERE num = 2', { load: headerSum, list: headerSum }],
    ['DELETE FROM sessions WHERE num = 2', { load: 'its header is missing', list: 'its header is missing' }],
    [`DELETE FROM heads WHERE ${two}`, { load: 'the number of its last entry is missing' }],
    [`UPDATE heads SET head = 3 WHERE ${two}`, { load: 'the number of its last entry does not match its checksum' }],
    [`UPDATE log SET body = '33' WHERE ${two} AND n = 3`, { load: entrySum(3), entries: entrySum(3), list: '' }],
    [`UPDATE log SET body = '33' WHERE ${two} AND n = 1`, { load: '', entries: entrySum(1) }],
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
  ])('is reported for its session, and for no other: %s', async (damage, expected) => {
    const others = [await store.log.load('one'), await store.log.load('three')];
    await whileDamaged(damage, async () => {
      expect(await readDamage('two')).toMatchObject(expected);
      expect([await readDamage('one'), await readDamage('three')]).toStrictEqual(Array(2).fill({ load: '', entries: '', list: '' }));
      expect([await store.log.load('one'), await store.log.load('three')]).toStrictEqual(others);
      expect((await store.heads.list()).sessions.map(({ id }) => id).sort()).toStrictEqual(['one', 'three', 'two']);
      expect((await store.heads.list({ tag: 'z' })).sessions).toStrictEqual([]);
    });
    expect(await readDamage('two')).toStrictEqual({ load: '', entries: '', list: '' });
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

  test('is reported where an answer is looked for', async () => {
    await whileDamaged(`UPDATE log SET body = '[]' WHERE ${two} AND n = 2`, async () => {
      await expect(store.log.findRequest('two', 'r2')).rejects.toMatchObject({ code: 'session-damaged', damage: entrySum(2) });
      expect((await store.log.findRequest('two', 'r1'))?.n).toBe(1);
    });
  });

  test.each([
    ['UPDATE sessions SET owner = NULL WHERE num = 2', { header: header('two') }],
    ['DELETE FROM sessions WHERE num = 2', {}],
    [`UPDATE heads SET head = 5 WHERE ${two}`, {}],
  ])('is not written over, and others are written: %s', async (damage, change) => {
    await whileDamaged(damage, async () => {
      const read = async (): Promise<unknown> =>
        (await pool().query(`SELECT * FROM ${schema}.sessions s, ${schema}.heads h WHERE s.num = 2 AND h.session = 2`)).rows;
      const before = await read();
      const effects = [{ key: 'q', phase: 'intent', body: '1' } as const];
      const again = {
        ...touching('two', 0),
        lease: free(0),
        header: header('two'),
        entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
      };
      await Promise.all([
        expect(store.log.write({ ...touching('two', 4), ...change, effects })).rejects.toMatchObject({
          code: 'session-damaged',
          sessionId: 'two',
        }),
        expect(store.log.write(again)).rejects.toMatchObject({ sessionId: 'two' }),
        store.log.write({ ...touching('one', 4), effects }),
      ]);
      expect(await read()).toStrictEqual(before);
    });
  });

  test.each(['fence = 7', "owner = 'x'", 'owner = NULL'])(
    'of the columns that say who owns a session refuses the owner, and nothing is lost: %s',
    async (change) => {
      await whileDamaged(`UPDATE heads SET ${change} WHERE ${two}`, async () => {
        await expect(store.log.write(touching('two', 4))).rejects.toMatchObject({ code: 'lease-lost' });
        expect(await readDamage('two')).toStrictEqual({ load: '', entries: '', list: '' });
      });
      await store.log.write(touching('two', 4));
    },
  );

  test('refuses mail to its session, and to no other', async () => {
    const post = (sessionId: string): Promise<unknown> => store.inbox.post({ sessionId, requestId: 'new', at: 1, body: '1' });
    await whileDamaged('UPDATE sessions SET owner = NULL WHERE num = 2', async () => {
      await Promise.all([expect(post('two')).rejects.toMatchObject({ code: 'session-damaged', sessionId: 'two' }), post('one')]);
      expect((await store.inbox.read()).map(({ sessionId }) => sessionId)).toStrictEqual(['one']);
    });
  });
});
