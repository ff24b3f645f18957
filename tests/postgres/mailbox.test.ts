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
    await store.inbox.read();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    const posted = await store.inbox.post(mailTo('s', 'r'));
    expect(posted).toStrictEqual({ num: 1, ...mailTo('s', 'r') });
    expect(watched.ran.filter((text) => text === 'COMMIT')).toHaveLength(2);
    expect(await store.inbox.read()).toStrictEqual([posted]);
  });

  test('whose commit the server still works on is waited for', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await store.inbox.read();
    watched.atNextCommit(({ client }) => {
      void client.query('SELECT pg_sleep(0.3); COMMIT').finally(keepOpen(client));
      return Promise.reject(connectionLost());
    });
    const posted = await store.inbox.post(mailTo('s', 'r'));
    expect(await store.inbox.read()).toStrictEqual([posted]);
    expect(posted.num).toBe(1);
  });

  test('whose connection is cut before the commit is posted once', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await store.inbox.read();
    watched.atNextCommit(async ({ run, client }) => {
      await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
      return run();
    });
    const posted = await store.inbox.post(mailTo('s', 'r'));
    expect(await store.inbox.read()).toStrictEqual([posted]);
  });

  test('of one request that many processes post at once is added once', async () => {
    const { open } = newPlace();
    const stores = Array.from({ length: 4 }, () => open());
    await stores[0]?.inbox.read();
    const posted = await Promise.all(stores.flatMap((store) => [1, 2].map(() => store.inbox.post(mailTo('s', 'r')))));
    expect(new Set(posted.map(({ num }) => num)).size).toBe(1);
    expect(await stores[0]?.inbox.read()).toStrictEqual([posted[0]]);
  });

  test('is found by a worker though one with a higher number was stored before it (M2)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [slow, quick] = [open({ pool: watched.pool }), open()];
    await slow.inbox.read();
    let second: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      await (second = quick.inbox.post(mailTo('s', 'second')));
      expect((await quick.inbox.read({ isWaiting: true })).map(({ requestId }) => requestId)).toStrictEqual(['second']);
      return run();
    });
    await slow.inbox.post(mailTo('s', 'first'));
    await second;
    expect((await quick.inbox.read({ isWaiting: true })).map(({ requestId }) => requestId)).toStrictEqual(['first', 'second']);
  });

  test('does not hold up a claim, and many of one store are one transaction (M3)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [client, worker] = [open({ pool: watched.pool }), open()];
    await client.inbox.read();
    watched.ran.length = 0;
    let claimed = 0;
    watched.atNextCommit(async ({ run }) => {
      claimed = await worker.claims.claim();
      return run();
    });
    const posted = await Promise.all(
      Array.from({ length: 50 }, (_, index) => client.inbox.post(mailTo(`s${String(index % 7)}`, String(index)))),
    );
    expect([claimed, watched.ran.length]).toStrictEqual([1, 4]);
    expect(posted.map(({ requestId }) => requestId)).toStrictEqual(Array.from({ length: 50 }, (_, index) => String(index)));
    expect(await worker.inbox.read()).toStrictEqual(posted);
  });

  test('that waits is found without reading those with a reply', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await store.inbox.read();
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
    for (const request of ['one', 'two', 'three']) await store.inbox.post(mailTo('s', request));
    await pool().query(`UPDATE ${schema}.mail SET body = '"other"' WHERE num = 2`);
    expect((await store.inbox.read()).map(({ num }) => num)).toStrictEqual([1, 3]);
    expect((await store.inbox.read({ limit: 2 })).map(({ num }) => num)).toStrictEqual([1, 3]);
    const again = await store.inbox.post(mailTo('s', 'two'));
    expect(await store.inbox.read({ requestId: 'two' })).toStrictEqual([again]);
    expect(again).toMatchObject({ body: '"two"' });
  });

  test.each(['\0', '\uD800'])('with text that cannot be stored is refused: %j', async (broken) => {
    const store = newPlace().open();
    for (const change of [{ sessionId: broken }, { requestId: broken }, { body: broken }])
      await expect(store.inbox.post({ ...mailTo('s', 'r'), ...change })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.inbox.answer({ epoch: 0, num: 1, reply: broken })).rejects.toMatchObject({ code: 'invalid-argument' });
    expect([await store.inbox.read({ sessionId: broken }), await store.inbox.read()]).toStrictEqual([[], []]);
  });

  test('with ids that are too long for an index is refused', async () => {
    const store = newPlace().open();
    const random = (length: number): string => Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36)).join('');
    await store.inbox.post(mailTo(random(600), random(2000)));
    await expect(store.inbox.post(mailTo(random(601), random(2000)))).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.inbox.post(mailTo('s', random(2001)))).rejects.toMatchObject({ code: 'invalid-argument' });
  });
});

async function fill(store: SessionStore, id: string, epoch: number): Promise<void> {
  const write = creating(id, epoch);
  await store.log.write({
    ...write,
    header: header(id, { tags: ['x'], owner: id }),
    entries: [...(write.entries ?? []), ...(adding(id, epoch, 2).entries ?? [])],
    effects: [{ key: 'k', phase: 'intent', body: '1' }],
  });
  await store.heads.quarantine(id, 'noted');
  await store.inbox.post(mailTo(id, 'r'));
}

describe('a deletion', () => {
  test('leaves no row of the session but its tombstone, and every row of others', async () => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claims.claim();
    await fill(store, 'a', epoch);
    const before = await countRows(schema);
    await fill(store, 'b', epoch);
    await store.log.delete({ sessionId: 'b', epoch, at: 5 });
    expect(await countRows(schema)).toStrictEqual({ ...before, tombstones: 1 });
    expect((await store.log.load('a'))?.head).toBe(2);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['a']);
    await expect(store.log.load('b')).rejects.toMatchObject({ code: 'session-deleted', deletedAt: 5 });
    // Its number is not used again either.
    await store.log.write(creating('c', epoch));
    expect((await pool().query(`SELECT num::int FROM ${schema}.sessions WHERE id = 'c'`)).rows).toStrictEqual([{ num: 3 }]);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['c', 'a']);
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
    const epoch = await store.claims.claim();
    await fill(store, 'a', epoch);
    const before = await countRows(schema);
    await fill(store, 'b', epoch);
    await pool().query(damage.replace(/(UPDATE|FROM) (\w+)/, `$1 ${schema}.$2`));
    await store.log.delete({ sessionId: 'b', epoch, at: 5 });
    expect(await countRows(schema)).toStrictEqual({ ...before, tombstones: 1 });
    expect((await store.log.load('a'))?.head).toBe(2);
    await expect(store.log.load('b')).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('is not led to the rows of another session by a damaged number', async () => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claims.claim();
    await fill(store, 'a', epoch);
    await fill(store, 'b', epoch);
    await pool().query(`DELETE FROM ${schema}.sessions WHERE id = 'a'; UPDATE ${schema}.sessions SET num = 1 WHERE id = 'b'`);
    await store.log.delete({ sessionId: 'b', epoch, at: 5 });
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
      const epoch = await store.claims.claim();
      await fill(store, 'a', epoch);
      await fill(store, 'b', epoch);
      await store.log.delete({ sessionId: 'b', epoch, at: 5 });
      await pool().query(`UPDATE ${schema}.tombstones SET ${change}`);
      await expect(store.log.load('b')).rejects.toMatchObject({ code: 'session-deleted' });
      await expect(store.log.write(creating('b', epoch))).rejects.toMatchObject({ code: 'session-deleted' });
      await expect(store.inbox.post(mailTo('b', 'r'))).rejects.toMatchObject({ code: 'session-deleted' });
      await store.log.write(creating('x', epoch));
      await store.inbox.post(mailTo('x', 'r'));
      expect((await store.log.load('a'))?.head).toBe(2);
    },
  );

  test('refuses whoever still writes: one of the same batch, one of another store, and one that was fenced', async () => {
    const { open } = newPlace();
    const [store, other] = [open(), open()];
    const epoch = await store.claims.claim();
    await store.log.write(creating('s', epoch));
    const settled = await Promise.allSettled([
      store.log.write(adding('s', epoch, 2)),
      store.log.delete({ sessionId: 's', epoch, at: 5 }),
      store.log.write(adding('s', epoch, 3)),
      store.log.rewrite({ sessionId: 's', epoch, after: 1, entries: [{ n: 1, body: '""' }] }),
    ]);
    expect(settled.map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : ''))).toStrictEqual([
      '',
      '',
      'session-deleted',
      'session-deleted',
    ]);
    await expect(other.log.write(adding('s', epoch, 3))).rejects.toMatchObject({ code: 'session-deleted' });
    await expect(other.log.write(creating('s', epoch))).rejects.toMatchObject({ code: 'session-deleted' });
    await other.claims.claim();
    await expect(store.log.write(adding('s', epoch, 3))).rejects.toMatchObject({ code: 'store-fenced' });
  });

  test('whose commit was carried out and whose answer was lost is reported as kept', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    const epoch = await store.claims.claim();
    await store.log.write(creating('s', epoch));
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await store.log.delete({ sessionId: 's', epoch, at: 5 });
    expect(watched.ran.filter((text) => text === 'COMMIT')).toHaveLength(1);
    await expect(store.log.load('s')).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('waits for a mail that is being posted, and removes it (M1)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [client, worker] = [open({ pool: watched.pool }), open()];
    const epoch = await worker.claims.claim();
    await worker.log.write(creating('s', epoch));
    await client.inbox.read();
    const order: string[] = [];
    let deleting: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      deleting = worker.log.delete({ sessionId: 's', epoch, at: 5 }).finally(() => order.push('deleted'));
      await wait(200);
      order.push('posted');
      return run();
    });
    await client.inbox.post(mailTo('s', 'r'));
    await deleting;
    expect(order).toStrictEqual(['posted', 'deleted']);
    expect(await client.inbox.read()).toStrictEqual([]);
  });

  test('that is being stored refuses a mail that comes meanwhile (M1)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [worker, client, another] = [open({ pool: watched.pool }), open(), open()];
    const epoch = await worker.claims.claim();
    await worker.log.write(creating('s', epoch));
    await client.inbox.read();
    let posting: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      posting = client.inbox.post(mailTo('s', 'r')).catch((error: unknown) => error);
      // Others are not held up.
      await another.inbox.post(mailTo('other', 'r'));
      return run();
    });
    await worker.log.delete({ sessionId: 's', epoch, at: 5 });
    expect(await posting).toMatchObject({ code: 'session-deleted' });
    expect((await client.inbox.read()).map(({ sessionId }) => sessionId)).toStrictEqual(['other']);
  });

  test('leaves no mail behind, however many are posted meanwhile', async () => {
    const { open } = newPlace();
    const stores = Array.from({ length: 3 }, () => open());
    const [worker = open()] = stores;
    const epoch = await worker.claims.claim();
    for (let round = 0; round < 10; round += 1) {
      const id = `s${String(round)}`;
      await worker.log.write(creating(id, epoch));
      const posts = stores.flatMap((store, index) =>
        Array.from({ length: 5 }, (_, each) => store.inbox.post(mailTo(id, `${String(index)} ${String(each)}`))),
      );
      const [, ...settled] = await Promise.allSettled([worker.log.delete({ sessionId: id, epoch, at: 5 }), ...posts]);
      const codes = settled.flatMap((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : []));
      expect(codes.every((code) => code === 'session-deleted')).toBe(true);
      expect(await worker.inbox.read()).toStrictEqual([]);
    }
  });
});

describe('a rewrite', () => {
  test('changes texts and checksums, and nothing else', async () => {
    const { open } = newPlace();
    const store = open();
    const epoch = await store.claims.claim();
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
    await store.log.write({ ...creating('s', epoch), entries: [entry] });
    await store.log.write(adding('s', epoch, 2));
    const { events: _, ...kept } = entry;
    await store.log.rewrite({ sessionId: 's', epoch, after: 2, entries: [{ n: 1, body: '"-"' }] });
    expect(await open().log.entries('s', { to: 1 })).toStrictEqual([{ ...kept, body: '"-"' }]);
    await store.log.write(adding('s', epoch, 3));
  });

  test('of a damaged entry is refused, and others are stored', async () => {
    const { schema, open } = newPlace();
    const store = open();
    const epoch = await store.claims.claim();
    await store.log.write(creating('s', epoch));
    await store.log.write(creating('t', epoch));
    await pool().query(`UPDATE ${schema}.log SET body = 'x' WHERE session_id = 's'`);
    const rewrite = (sessionId: string): Promise<void> => store.log.rewrite({ sessionId, epoch, after: 1, entries: [{ n: 1, body: '2' }] });
    await Promise.all([expect(rewrite('s')).rejects.toMatchObject({ code: 'session-damaged' }), rewrite('t')]);
    expect((await store.log.entries('t'))[0]?.body).toBe('2');
  });
});
