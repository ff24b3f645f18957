// Mails and deletions, which several processes make at once (T6, T7).
import { describe, expect, test } from 'vitest';
import type { NewMail, SessionStore } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, claim, creating, header, join, touching } from './samples.ts';
import { connectionLost, isCommit, keepOpen, readPid, watchPool } from './watched-pool.ts';

const { pool, newClosingPlace: newPlace } = usePool();

const mailTo = (sessionId: string, requestId: string): NewMail => ({ sessionId, requestId, at: 1, body: `"${requestId}"` });
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates sessions that nobody owns. */
const createAll = (store: SessionStore, ids: readonly string[]): Promise<unknown> =>
  Promise.all(ids.map((id) => store.log.write({ ...creating(id), keepsLease: false })));

async function countRows(schema: string): Promise<Readonly<Record<string, number>>> {
  const tables = ['sessions', 'heads', 'session_tags', 'log', 'effects', 'quarantine', 'mail', 'tombstones'];
  const counts = tables.map((table) => `'${table}', (SELECT count(*) FROM ${schema}.${table})`);
  const { rows } = await pool().query(`SELECT json_build_object(${counts.join(', ')}) AS counts`);
  return rows[0]?.['counts'] as Readonly<Record<string, number>>;
}

describe('a mail', () => {
  test('whose commit was carried out and whose answer was lost is not posted twice', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await createAll(store, ['s']);
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    const posted = await store.inbox.post(mailTo('s', 'r'));
    expect(posted).toStrictEqual({ num: 1, ...mailTo('s', 'r') });
    expect(watched.ran.filter(isCommit)).toHaveLength(1);
    expect(await store.inbox.read()).toStrictEqual([posted]);
  });

  test('whose commit the server still works on is waited for', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await createAll(store, ['s']);
    watched.atNextCommit(({ client }) => {
      void client.query('SELECT pg_sleep(0.3); COMMIT').finally(keepOpen(client));
      return Promise.reject(connectionLost());
    });
    const posted = await store.inbox.post(mailTo('s', 'r'));
    expect(await store.inbox.read()).toStrictEqual([posted]);
    expect(posted?.num).toBe(1);
  });

  test('whose connection is cut before the commit is posted once', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await createAll(store, ['s']);
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
    await createAll(open(), ['s']);
    const posted = await Promise.all(stores.flatMap((store) => [1, 2].map(() => store.inbox.post(mailTo('s', 'r')))));
    expect(new Set(posted.map((mail) => mail?.num)).size).toBe(1);
    expect(await stores[0]?.inbox.read()).toStrictEqual([posted[0]]);
  });

  test('waits for one to the same session that is being posted, and for no other: numbers are in the order of commits', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [slow, quick, another] = [open({ pool: watched.pool }), open(), open()];
    await createAll(slow, ['s', 't']);
    const order: string[] = [];
    let second: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      second = quick.inbox.post(mailTo('s', 'second')).finally(() => order.push('second'));
      await another.inbox.post(mailTo('t', 'r'));
      await wait(200);
      order.push('first');
      return run();
    });
    await slow.inbox.post(mailTo('s', 'first'));
    await second;
    expect(order).toStrictEqual(['first', 'second']);
    expect((await quick.inbox.read({ sessionId: 's' })).map(({ num, requestId }) => [num, requestId])).toStrictEqual([
      [1, 'first'],
      [2, 'second'],
    ]);
  });

  test('does not hold up a claim, and many of one store are one transaction (S3, P1)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [client, worker] = [open({ pool: watched.pool }), open()];
    await join(worker);
    const ids = Array.from({ length: 7 }, (_, index) => `s${String(index)}`);
    await createAll(client, [...ids, 'free']);
    watched.ran.length = 0;
    let claimed: readonly string[] = [];
    watched.atNextCommit(async ({ run }) => {
      claimed = await claim(worker, 'w');
      return run();
    });
    const posted = await Promise.all(
      Array.from({ length: 50 }, (_, index) => client.inbox.post(mailTo(`s${String(index % 7)}`, String(index)))),
    );
    expect([claimed, watched.ran.length]).toStrictEqual([['free 2'], 4]);
    expect(posted.map((mail) => mail?.requestId)).toStrictEqual(Array.from({ length: 50 }, (_, index) => String(index)));
    for (const id of ids) expect(await worker.inbox.read({ sessionId: id })).toStrictEqual(posted.filter((mail) => mail?.sessionId === id));
    expect((await claim(worker, 'w')).length).toBe(7);
  });

  test('that waits is found without reading those with a reply', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await store.inbox.read();
    await pool().query(
      `INSERT INTO ${schema}.mail (session, num, session_id, request_id, at, body, reply) SELECT 1, n, 's', n::text, 1, '""', '""' FROM generate_series(1, 20000) n;
      ANALYZE ${schema}.mail`,
    );
    const { rows } = await pool().query(
      `EXPLAIN SELECT * FROM ${schema}.mail WHERE reply IS NULL AND (session, num) > (0, 0) ORDER BY session, num LIMIT 1000`,
    );
    expect(JSON.stringify(rows)).toContain('mail_waiting');
  });

  test('that is damaged is not read, and can be posted again', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await createAll(store, ['s']);
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
    await join(store);
    await store.log.write(creating('s'));
    for (const change of [{ sessionId: broken }, { requestId: broken }, { body: broken }])
      await expect(store.inbox.post({ ...mailTo('s', 'r'), ...change })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(store.log.write({ ...touching('s', 1), mail: { num: 1, reply: broken } })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
    expect([await store.inbox.read({ sessionId: broken }), await store.inbox.read()]).toStrictEqual([[], []]);
  });

  test('with ids that are too long for an index is refused', async () => {
    const store = newPlace().open();
    const random = (length: number): string => Array.from({ length }, () => Math.floor(Math.random() * 36).toString(36)).join('');
    const long = random(2000);
    await createAll(store, [long]);
    await store.inbox.post(mailTo(long, random(2000)));
    await expect(store.inbox.post(mailTo('s', random(2001)))).rejects.toMatchObject({ code: 'invalid-argument' });
  });
});

async function fill(store: SessionStore, id: string): Promise<void> {
  const write = creating(id);
  await store.log.write({
    ...write,
    header: header(id, { tags: ['x'], owner: id }),
    entries: [...(write.entries ?? []), ...(adding(id, 2).entries ?? [])],
    effects: [{ key: 'k', phase: 'intent', body: '1' }],
  });
  await store.heads.quarantine(id, 'noted');
  await store.inbox.post(mailTo(id, 'r'));
}

describe('a deletion', () => {
  test('leaves no row of the session but its tombstone, and every row of others', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await join(store);
    await fill(store, 'a');
    const before = await countRows(schema);
    await fill(store, 'b');
    await store.log.delete({ sessionId: 'b', at: 5 });
    expect(await countRows(schema)).toStrictEqual({ ...before, tombstones: 1 });
    expect((await store.log.load('a'))?.head).toBe(2);
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['a']);
    await expect(store.log.load('b')).rejects.toMatchObject({ code: 'session-deleted', deletedAt: 5 });
    // Its number is not used again either.
    await store.log.write(creating('c'));
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
    await join(store);
    await fill(store, 'a');
    const before = await countRows(schema);
    await fill(store, 'b');
    await pool().query(damage.replace(/(UPDATE|FROM) (\w+)/, `$1 ${schema}.$2`));
    await store.log.delete({ sessionId: 'b', at: 5 });
    expect(await countRows(schema)).toStrictEqual({ ...before, tombstones: 1 });
    expect((await store.log.load('a'))?.head).toBe(2);
    await expect(store.log.load('b')).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('is not led to the rows of another session by a damaged number', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await join(store);
    await fill(store, 'a');
    await fill(store, 'b');
    await pool().query(`DELETE FROM ${schema}.sessions WHERE id = 'a'; UPDATE ${schema}.sessions SET num = 1 WHERE id = 'b'`);
    await store.log.delete({ sessionId: 'b', at: 5 });
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
      await join(store);
      await fill(store, 'a');
      await fill(store, 'b');
      await store.log.delete({ sessionId: 'b', at: 5 });
      await pool().query(`UPDATE ${schema}.tombstones SET ${change}`);
      await expect(store.log.load('b')).rejects.toMatchObject({ code: 'session-deleted' });
      await expect(store.log.write(creating('b'))).rejects.toMatchObject({ code: 'session-deleted' });
      await expect(store.inbox.post(mailTo('b', 'r'))).rejects.toMatchObject({ code: 'session-deleted' });
      await store.log.write(creating('x'));
      await store.inbox.post(mailTo('x', 'r'));
      expect((await store.log.load('a'))?.head).toBe(2);
    },
  );

  test('refuses whoever still writes: one of the same batch, and one of another store', async () => {
    const { open } = newPlace();
    const [store, other] = [open(), open()];
    await join(store);
    await store.log.write(creating('s'));
    const settled = await Promise.allSettled([
      store.log.write(adding('s', 2)),
      store.log.delete({ sessionId: 's', at: 5 }),
      store.log.write(adding('s', 3)),
      store.log.write({ ...touching('s', 1), rewrites: [{ n: 1, body: '""' }] }),
    ]);
    expect(settled.map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : ''))).toStrictEqual([
      '',
      '',
      'session-deleted',
      'session-deleted',
    ]);
    await expect(other.log.write(adding('s', 3))).rejects.toMatchObject({ code: 'session-deleted' });
    await expect(other.log.write(creating('s'))).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('whose commit was carried out and whose answer was lost is reported as kept', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    await join(store);
    await store.log.write(creating('s'));
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await store.log.delete({ sessionId: 's', at: 5 });
    expect(watched.ran.filter(isCommit)).toHaveLength(1);
    await expect(store.log.load('s')).rejects.toMatchObject({ code: 'session-deleted' });
  });

  test('waits for a mail that is being posted, and removes it', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [client, worker] = [open({ pool: watched.pool }), open()];
    await join(worker);
    await worker.log.write(creating('s'));
    await client.inbox.read();
    const order: string[] = [];
    let deleting: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      deleting = worker.log.delete({ sessionId: 's', at: 5 }).finally(() => order.push('deleted'));
      await wait(200);
      order.push('posted');
      return run();
    });
    await client.inbox.post(mailTo('s', 'r'));
    await deleting;
    expect(order).toStrictEqual(['posted', 'deleted']);
    expect(await client.inbox.read()).toStrictEqual([]);
  });

  test('that is being stored refuses a mail that comes meanwhile', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [worker, client, another] = [open({ pool: watched.pool }), open(), open()];
    await join(worker);
    await createAll(worker, ['s', 'other']);
    await client.inbox.read();
    let posting: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(async ({ run }) => {
      posting = client.inbox.post(mailTo('s', 'r')).catch((error: unknown) => error);
      // Others are not held up.
      await another.inbox.post(mailTo('other', 'r'));
      return run();
    });
    await worker.log.delete({ sessionId: 's', at: 5 });
    expect(await posting).toMatchObject({ code: 'session-deleted' });
    expect((await client.inbox.read()).map(({ sessionId }) => sessionId)).toStrictEqual(['other']);
  });

  test('leaves no mail behind, however many are posted meanwhile', async () => {
    const { open } = newPlace();
    const stores = Array.from({ length: 3 }, () => open());
    const [worker = open()] = stores;
    await join(worker);
    for (let round = 0; round < 10; round += 1) {
      const id = `s${String(round)}`;
      await worker.log.write(creating(id));
      const posts = stores.flatMap((store, index) =>
        Array.from({ length: 5 }, (_, each) => store.inbox.post(mailTo(id, `${String(index)} ${String(each)}`))),
      );
      const [, ...settled] = await Promise.allSettled([worker.log.delete({ sessionId: id, at: 5 }), ...posts]);
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
    await join(store);
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
    await store.log.write({ ...creating('s'), entries: [entry] });
    await store.log.write(adding('s', 2));
    const { events: _, ...kept } = entry;
    await store.log.write({ ...touching('s', 2), rewrites: [{ n: 1, body: '"-"' }] });
    expect(await open().log.entries('s', { to: 1 })).toStrictEqual([{ ...kept, body: '"-"' }]);
    await store.log.write(adding('s', 3));
  });

  test('of a damaged entry is refused, and others are stored', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await join(store);
    await store.log.write(creating('s'));
    await store.log.write(creating('t'));
    await pool().query(`UPDATE ${schema}.log SET body = 'x' WHERE session_id = 's'`);
    const rewrite = (sessionId: string): Promise<unknown> =>
      store.log.write({ ...touching(sessionId, 1), rewrites: [{ n: 1, body: '2' }] });
    await Promise.all([expect(rewrite('s')).rejects.toMatchObject({ code: 'session-damaged' }), rewrite('t')]);
    expect((await store.log.entries('t'))[0]?.body).toBe('2');
  });
});
