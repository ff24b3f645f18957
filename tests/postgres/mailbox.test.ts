// Mails, holds and deletions, which several processes make at once (M1–M4, T6, T7).
import { describe, expect, test } from 'vitest';
import type { NewMail, SessionStore } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, creating, header } from './samples.ts';
import { connectionLost, keepOpen, readPid, watchPool } from './watched-pool.ts';

const { pool, newClosingPlace: newPlace } = usePool();

const mailTo = (sessionId: string, requestId: string): NewMail => ({ sessionId, requestId, at: 1, body: `"${requestId}"` });
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function countRows(schema: string): Promise<Readonly<Record<string, number>>> {
  const tables = ['sessions', 'heads', 'session_tags', 'log', 'effects', 'quarantine', 'mail', 'tombstones'];
  const counts = tables.map((table) => `'${table}', (SELECT count(*) FROM ${schema}.${table})`);
  const { rows } = await pool().query(`SELECT json_build_object(${counts.join(', ')}) AS counts`);
  return rows[0]?.['counts'] as Readonly<Record<string, number>>;
}

describe('a mail', () => {
  test('whose commit was carried out and whose answer was lost is not posted twice (M4)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await store.readMail();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    const posted = await store.post(mailTo('s', 'r'));
    expect(posted).toStrictEqual({ num: 1, ...mailTo('s', 'r') });
    expect(watched.ran.filter((text) => text === 'COMMIT')).toHaveLength(2);
    expect(await store.readMail()).toStrictEqual([posted]);
  });

  test('whose commit the server still works on is waited for', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await store.readMail();
    watched.atNextCommit(({ client }) => {
      void client.query('SELECT pg_sleep(0.3); COMMIT').finally(keepOpen(client));
      return Promise.reject(connectionLost());
    });
    const posted = await store.post(mailTo('s', 'r'));
    expect(await store.readMail()).toStrictEqual([posted]);
    expect(posted.num).toBe(1);
  });

  test('whose connection is cut before the commit is posted once', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await store.readMail();
    watched.atNextCommit(async ({ run, client }) => {
      await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
      return run();
    });
    const posted = await store.post(mailTo('s', 'r'));
    expect(await store.readMail()).toStrictEqual([posted]);
  });

  test('of one request that many processes post at once is added once', async () => {
    const { open } = newPlace();
    const stores = Array.from({ length: 4 }, () => open());
    await stores[0]?.readMail();
    const posted = await Promise.all(stores.flatMap((store) => [1, 2].map(() => store.post(mailTo('s', 'r')))));
    expect(new Set(posted.map(({ num }) => num)).size).toBe(1);
    expect(await stores[0]?.readMail()).toStrictEqual([posted[0]]);
  });

  test('is found by a worker though one with a higher number was stored before it (M2)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [slow, quick] = [open({ pool: watched.pool }), open()];
    await slow.readMail();
    let second: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      await (second = quick.post(mailTo('s', 'second')));
      expect((await quick.readMail({ isWaiting: true })).map(({ requestId }) => requestId)).toStrictEqual(['second']);
      return run();
    });
    await slow.post(mailTo('s', 'first'));
    await second;
    expect((await quick.readMail({ isWaiting: true })).map(({ requestId }) => requestId)).toStrictEqual(['first', 'second']);
  });

  test('does not hold up a claim, and many of one store are one transaction (M3)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [client, worker] = [open({ pool: watched.pool }), open()];
    await client.readMail();
    watched.ran.length = 0;
    let claimed = 0;
    watched.atNextCommit(async ({ run }) => {
      claimed = await worker.claim();
      return run();
    });
    const posted = await Promise.all(Array.from({ length: 50 }, (_, index) => client.post(mailTo(`s${String(index % 7)}`, String(index)))));
    expect([claimed, watched.ran.length]).toStrictEqual([1, 4]);
    expect(posted.map(({ requestId }) => requestId)).toStrictEqual(Array.from({ length: 50 }, (_, index) => String(index)));
    expect(await worker.readMail()).toStrictEqual(posted);
  });

  test('that waits is found without reading those with a reply', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await store.readMail();
    await pool().query(
      `INSERT INTO ${schema}.mail (num, session_id, request_id, at, body, reply) SELECT n, 's', n::text, 1, '""', '""' FROM generate_series(1, 20000) n;
      ANALYZE ${schema}.mail`,
    );
    const { rows } = await pool().query(`EXPLAIN SELECT * FROM ${schema}.mail WHERE reply IS NULL AND num > 0 ORDER BY num LIMIT 1000`);
    expect(JSON.stringify(rows)).toContain('mail_waiting');
  });

  test('that is damaged is not read, and can be posted again', async () => {
    const { schema, open } = newPlace();
    const store = open();
    for (const request of ['one', 'two', 'three']) await store.post(mailTo('s', request));
    await pool().query(`UPDATE ${schema}.mail SET body = '"other"' WHERE num = 2`);
    expect((await store.readMail()).map(({ num }) => num)).toStrictEqual([1, 3]);
    expect((await store.readMail({ limit: 2 })).map(({ num }) => num)).toStrictEqual([1, 3]);
    const again = await store.post(mailTo('s', 'two'));
    expect(await store.readMail({ requestId: 'two' })).toStrictEqual([again]);
    expect(again).toMatchObject({ body: '"two"' });
  });

  test.each(['\0', '\uD800'])('with text that cannot be stored is refused: %j', async (broken) => {
    const store = newPlace().open();
    for (const change of [{ sessionId: broken }, { requestId: broken }, { body: broken }])
      await expect(store.post({ ...mailTo('s', 'r'), ...change })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.putHold({ id: broken, at: 1, body: '1' })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.putHold({ id: 'h', at: 1, body: broken })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.answerMail({ epoch: 0, num: 1, reply: broken })).rejects.toMatchObject({ code: 'invalid-argument' });
    expect([await store.readMail({ sessionId: broken }), await store.readMail(), await store.readHolds()]).toStrictEqual([[], [], []]);
    expect(await store.dropHold(broken)).toBe(false);
  });

  test('with ids that are too long for an index is refused', async () => {
    const store = newPlace().open();
    const random = (length: number): string => Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36)).join('');
    await store.post(mailTo(random(600), random(2000)));
    await expect(store.post(mailTo(random(601), random(2000)))).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.post(mailTo('s', random(2001)))).rejects.toMatchObject({ code: 'invalid-argument' });
  });
});

describe('a hold', () => {
  test('that was dropped though the answer was lost is reported as dropped', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    await store.putHold({ id: 'h', at: 1, body: '1' });
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    expect(await store.dropHold('h')).toBe(true);
    expect(await store.dropHold('h')).toBe(false);
  });

  test('that is damaged does not count, and can be put again', async () => {
    const { schema, open } = newPlace();
    const store = open();
    for (const id of ['a', 'b']) await store.putHold({ id, at: 1, body: `"${id}"` });
    await pool().query(`UPDATE ${schema}.holds SET body = '"x"' WHERE id = 'a'`);
    expect((await store.readHolds()).map(({ id }) => id)).toStrictEqual(['b']);
    await store.putHold({ id: 'a', at: 2, body: '"a"' });
    expect((await store.readHolds()).map(({ id }) => id)).toStrictEqual(['b', 'a']);
  });
});

async function fill(store: SessionStore, id: string, epoch: number): Promise<void> {
  const write = creating(id, epoch);
  await store.write({
    ...write,
    header: header(id, { tags: ['x'], owner: id }),
    entries: [...(write.entries ?? []), ...(adding(id, epoch, 2).entries ?? [])],
    effects: [{ key: 'k', phase: 'intent', body: '1' }],
  });
  await store.quarantine(id, 'noted');
  await store.post(mailTo(id, 'r'));
}

describe('a deletion', () => {
  test('leaves no row of the session but its tombstone, and every row of others', async () => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claim();
    await fill(store, 'a', epoch);
    const before = await countRows(schema);
    await fill(store, 'b', epoch);
    await store.delete({ sessionId: 'b', epoch, at: 5 });
    expect(await countRows(schema)).toStrictEqual({ ...before, tombstones: 1 });
    expect((await store.load('a'))?.head).toBe(2);
    expect((await store.list()).sessions.map(({ id }) => id)).toStrictEqual(['a']);
    await expect(store.load('b')).rejects.toMatchObject({ code: 'session-deleted', deletedAt: 5 });
    // Its number is not used again either.
    await store.write(creating('c', epoch));
    expect((await pool().query(`SELECT num::int FROM ${schema}.sessions WHERE id = 'c'`)).rows).toStrictEqual([{ num: 3 }]);
    expect((await store.list()).sessions.map(({ id }) => id)).toStrictEqual(['c', 'a']);
  });

  test.each([
    "UPDATE sessions SET owner = 'x' WHERE id = 'b'",
    "UPDATE sessions SET id = 'x' WHERE id = 'b'",
    "UPDATE sessions SET num = 9 WHERE id = 'b'",
    "DELETE FROM sessions WHERE id = 'b'",
    "UPDATE log SET body = 'x' WHERE session_id = 'b'",
    "UPDATE log SET session_id = 'x' WHERE session_id = 'b'",
  ])('of a damaged session removes what is its own, and nothing of others: %s', async (damage) => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claim();
    await fill(store, 'a', epoch);
    const before = await countRows(schema);
    await fill(store, 'b', epoch);
    await pool().query(damage.replace(/(UPDATE|FROM) (\w+)/, `$1 ${schema}.$2`));
    await store.delete({ sessionId: 'b', epoch, at: 5 });
    expect(await countRows(schema)).toStrictEqual({ ...before, tombstones: 1 });
    expect((await store.load('a'))?.head).toBe(2);
    await expect(store.load('b')).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('is not led to the rows of another session by a damaged number', async () => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claim();
    await fill(store, 'a', epoch);
    await fill(store, 'b', epoch);
    await pool().query(`DELETE FROM ${schema}.sessions WHERE id = 'a'; UPDATE ${schema}.sessions SET num = 1 WHERE id = 'b'`);
    await store.delete({ sessionId: 'b', epoch, at: 5 });
    expect((await pool().query(`SELECT session::int, n::int FROM ${schema}.log ORDER BY session, n`)).rows).toStrictEqual([
      { session: 1, n: 1 },
      { session: 1, n: 2 },
    ]);
  });

  test.each(["id = 'x'", "id_copy = 'x'", 'at = 7', 'num = 1', 'sum = 1'])(
    'is known though its tombstone is damaged: %s',
    async (change) => {
      const { schema, open } = newPlace();
      const store = open();
      const epoch = await store.claim();
      await fill(store, 'a', epoch);
      await fill(store, 'b', epoch);
      await store.delete({ sessionId: 'b', epoch, at: 5 });
      await pool().query(`UPDATE ${schema}.tombstones SET ${change}`);
      await expect(store.load('b')).rejects.toMatchObject({ code: 'session-deleted' });
      await expect(store.write(creating('b', epoch))).rejects.toMatchObject({ code: 'session-deleted' });
      await expect(store.post(mailTo('b', 'r'))).rejects.toMatchObject({ code: 'session-deleted' });
      await store.write(creating('x', epoch));
      await store.post(mailTo('x', 'r'));
      expect((await store.load('a'))?.head).toBe(2);
    },
  );

  test('refuses whoever still writes: one of the same batch, one of another store, and one that was fenced', async () => {
    const { open } = newPlace();
    const [store, other] = [open(), open()];
    const epoch = await store.claim();
    await store.write(creating('s', epoch));
    const settled = await Promise.allSettled([
      store.write(adding('s', epoch, 2)),
      store.delete({ sessionId: 's', epoch, at: 5 }),
      store.write(adding('s', epoch, 3)),
      store.rewrite({ sessionId: 's', epoch, after: 1, entries: [{ n: 1, body: '""' }] }),
    ]);
    expect(settled.map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : ''))).toStrictEqual([
      '',
      '',
      'session-deleted',
      'session-deleted',
    ]);
    await expect(other.write(adding('s', epoch, 3))).rejects.toMatchObject({ code: 'session-deleted' });
    await expect(other.write(creating('s', epoch))).rejects.toMatchObject({ code: 'session-deleted' });
    await other.claim();
    await expect(store.write(adding('s', epoch, 3))).rejects.toMatchObject({ code: 'store-fenced' });
  });

  test('whose commit was carried out and whose answer was lost is reported as kept', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    const epoch = await store.claim();
    await store.write(creating('s', epoch));
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await store.delete({ sessionId: 's', epoch, at: 5 });
    expect(watched.ran.filter((text) => text === 'COMMIT')).toHaveLength(1);
    await expect(store.load('s')).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('waits for a mail that is being posted, and removes it (M1)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [client, worker] = [open({ pool: watched.pool }), open()];
    const epoch = await worker.claim();
    await worker.write(creating('s', epoch));
    await client.readMail();
    const order: string[] = [];
    let deleting: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      deleting = worker.delete({ sessionId: 's', epoch, at: 5 }).finally(() => order.push('deleted'));
      await wait(200);
      order.push('posted');
      return run();
    });
    await client.post(mailTo('s', 'r'));
    await deleting;
    expect(order).toStrictEqual(['posted', 'deleted']);
    expect(await client.readMail()).toStrictEqual([]);
  });

  test('that is being stored refuses a mail that comes meanwhile (M1)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [worker, client, another] = [open({ pool: watched.pool }), open(), open()];
    const epoch = await worker.claim();
    await worker.write(creating('s', epoch));
    await client.readMail();
    let posting: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      posting = client.post(mailTo('s', 'r')).catch((error: unknown) => error);
      // Others are not held up.
      await another.post(mailTo('other', 'r'));
      return run();
    });
    await worker.delete({ sessionId: 's', epoch, at: 5 });
    expect(await posting).toMatchObject({ code: 'session-deleted' });
    expect((await client.readMail()).map(({ sessionId }) => sessionId)).toStrictEqual(['other']);
  });

  test('leaves no mail behind, however many are posted meanwhile', async () => {
    const { open } = newPlace();
    const stores = Array.from({ length: 3 }, () => open());
    const [worker = open()] = stores;
    const epoch = await worker.claim();
    for (let round = 0; round < 10; round += 1) {
      const id = `s${String(round)}`;
      await worker.write(creating(id, epoch));
      const posts = stores.flatMap((store, index) =>
        Array.from({ length: 5 }, (_, each) => store.post(mailTo(id, `${String(index)} ${String(each)}`))),
      );
      const [, ...settled] = await Promise.allSettled([worker.delete({ sessionId: id, epoch, at: 5 }), ...posts]);
      const codes = settled.flatMap((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : []));
      expect(codes.every((code) => code === 'session-deleted')).toBe(true);
      expect(await worker.readMail()).toStrictEqual([]);
    }
  });
});

describe('a rewrite', () => {
  test('changes texts and checksums, and nothing else', async () => {
    const { open } = newPlace();
    const store = open();
    const epoch = await store.claim();
    const entry = {
      n: 1,
      at: 3,
      isSnapshot: true,
      requestId: 'r',
      execution: 1,
      step: 2,
      body: '"secret"',
      events: '["secret"]',
      lastSeq: 4,
    };
    await store.write({ ...creating('s', epoch), entries: [entry] });
    await store.write(adding('s', epoch, 2));
    const { events: _, ...kept } = entry;
    await store.rewrite({ sessionId: 's', epoch, after: 2, entries: [{ n: 1, body: '"-"' }] });
    expect(await open().entries('s', { to: 1 })).toStrictEqual([{ ...kept, body: '"-"' }]);
    await store.write(adding('s', epoch, 3));
  });

  test('of a damaged entry is refused, and others are stored', async () => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claim();
    await store.write(creating('s', epoch));
    await store.write(creating('t', epoch));
    await pool().query(`UPDATE ${schema}.log SET body = 'x' WHERE session_id = 's'`);
    const rewrite = (sessionId: string): Promise<void> => store.rewrite({ sessionId, epoch, after: 1, entries: [{ n: 1, body: '2' }] });
    await Promise.all([expect(rewrite('s')).rejects.toMatchObject({ code: 'session-damaged' }), rewrite('t')]);
    expect((await store.entries('t'))[0]?.body).toBe('2');
  });
});

test('a schema of an earlier build gets the tables that it lacks, keeps its number, and that build goes on with it (O2)', async () => {
  const { schema, open } = newPlace();
  const old = open();
  const epoch = await old.claim();
  await old.write(creating('s', epoch));
  await pool().query(
    `DROP TABLE ${schema}.mail, ${schema}.tombstones, ${schema}.holds, ${schema}.holder; DROP SEQUENCE ${schema}.mail_num`,
  );
  const stores = Array.from({ length: 4 }, () => open());
  await Promise.all(stores.map((store) => store.readMail()));
  const [store = open()] = stores;
  expect((await store.post(mailTo('s', 'r'))).num).toBe(1);
  await old.write(adding('s', epoch, 2));
  await store.write({ ...adding('s', epoch, 3), takesMail: [1] });
  expect([await store.readMail(), (await store.load('s'))?.head]).toStrictEqual([[], 3]);
  expect((await pool().query(`SELECT value::int FROM ${schema}.meta WHERE name = 'schema'`)).rows).toStrictEqual([{ value: 1 }]);
});
