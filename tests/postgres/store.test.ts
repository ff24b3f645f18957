import { describe, expect, inject, test } from 'vitest';
import type { SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import { schemaVersion } from '../../src/sessions/postgres/tables.ts';
import { withChecksum } from '../../src/sessions/table/index.ts';
import { newSchema, usePool } from './place.ts';
import { adding, claim, creating, header, heldBy, join, touching } from './samples.ts';
import { openBarePool, openPool } from './server.ts';
import { watchPool } from './watched-pool.ts';

const { pool, newPlace, newClosingPlace } = usePool();

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const getProblem = (settled: PromiseSettledResult<unknown>): unknown =>
  settled.status === 'rejected' ? (settled.reason as { readonly problem?: string }).problem : 'fulfilled';
const refusal = (code: string, message: string): unknown =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as string });

describe('group commit', () => {
  test('stores all writes of one turn in one transaction, with as many round trips for 200 sessions as for one (P1, B1)', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    await join(store);
    const ids = Array.from({ length: 200 }, (_, index) => `s${String(index)}`);
    const count = async (toWrites: (id: string) => readonly SessionWrite[], some = ids): Promise<number> => {
      watched.ran.length = 0;
      await Promise.all(some.flatMap((id) => toWrites(id).map((write) => store.log.write(write))));
      return watched.ran.length;
    };
    expect(await count((id) => [creating(id)])).toBe(4);
    const full = (id: string): readonly SessionWrite[] => [
      { ...touching(id, 1), effects: [{ key: 'a', phase: 'intent', body: '1' }] },
      { ...adding(id, 2), clearsEffects: true, header: header(id, { tags: ['x'], updatedAt: 2 }) },
      {
        ...adding(id, 3),
        entries: [{ n: 3, at: 3, isSnapshot: false, requestId: 'r', body: '3' }],
        effects: [{ key: 'b', phase: 'intent', body: '1' }],
      },
    ];
    expect(await count(full)).toBe(4);
    expect(await count((id) => [{ ...touching(id, 3), effects: [{ key: 'b', phase: 'result', body: '2' }] }], ['s7'])).toBe(4);
    expect(await store.log.load('s7')).toMatchObject({
      head: 3,
      effects: [
        { key: 'b', phase: 'intent' },
        { key: 'b', phase: 'result' },
      ],
    });
    await store.close();
  });

  test('does not store effects that the same batch drops (G2)', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    await join(store);
    await store.log.write(creating('s'));
    watched.ran.length = 0;
    await Promise.all([
      store.log.write({ ...touching('s', 1), effects: [{ key: 'a', phase: 'result', body: '1' }] }),
      store.log.write({ ...adding('s', 2), clearsEffects: true }),
    ]);
    expect(watched.ran.filter((text) => text.includes('add_effects'))).toStrictEqual([]);
    await store.close();
  });

  test('keeps the others of a batch where one of them cannot be stored', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await join(store);
    await store.log.write(creating('bad'));
    // A leftover row stands where the next entry belongs.
    await pool().query(`INSERT INTO ${schema}.log (session, n, body) VALUES (1, 2, 'x')`);
    const settled = await Promise.allSettled([creating('a'), adding('bad', 2), creating('b')].map((write) => store.log.write(write)));
    expect(settled.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({ reason: { code: 'session-damaged', sessionId: 'bad' } });
    expect((await store.heads.list()).sessions.map(({ id }) => id)).toStrictEqual(['b', 'a', 'bad']);
    await store.close();
  });

  test('two stores that write for one worker never write over each other (B2)', async () => {
    const { open } = newPlace();
    const [one, other] = [open(), open()];
    await join(one);
    await one.log.write(creating('s'));
    let [kept, refused] = [0, 0];
    for (let n = 2; n <= 40; n += 1) {
      const settled = await Promise.allSettled([one, other].map((store) => store.log.write(adding('s', n))));
      kept += settled.filter(({ status }) => status === 'fulfilled').length;
      refused += settled.filter(
        (each) => each.status === 'rejected' && (each.reason as { code: string }).code === 'session-conflict',
      ).length;
    }
    expect([kept, refused]).toStrictEqual([39, 39]);
    const created = await Promise.allSettled(
      [one, other].flatMap((store, index) => ['x', `y${String(index)}`].map((id) => store.log.write(creating(id)))),
    );
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect((await one.heads.list()).sessions).toHaveLength(4);
    await Promise.all([one.close(), other.close()]);
  });
});

describe('a lease', () => {
  test('that is freed waits for a batch that is being stored, and refuses the next one (B2)', async () => {
    const { open } = newClosingPlace();
    const watched = watchPool(pool());
    const [store, other] = [open({ pool: watched.pool }), open()];
    await join(store);
    await store.log.write(creating('s'));
    const order: string[] = [];
    let freeing: Promise<number> | undefined;
    watched.atNextCommit(async ({ run }) => {
      freeing = other.leases.free({ worker: 'w', beats: 1 }).finally(() => order.push('freed'));
      await wait(200);
      order.push('commit');
      return run();
    });
    await store.log.write(adding('s', 2));
    expect(await freeing).toBe(1);
    expect(order).toStrictEqual(['commit', 'freed']);
    await expect(store.log.write(adding('s', 3))).rejects.toMatchObject({ code: 'lease-lost' });
    expect(await other.heads.read('s')).toMatchObject({ head: 2, fence: 2 });
  });

  test('that is being freed refuses a write that comes meanwhile (B2)', async () => {
    const { open } = newClosingPlace();
    const watched = watchPool(pool());
    const [store, other] = [open(), open({ pool: watched.pool })];
    await join(store);
    await store.log.write(creating('s'));
    await other.heads.list();
    let writing: Promise<unknown> | undefined;
    watched.atNextCommit(async ({ run }) => {
      writing = store.log.write(adding('s', 2)).catch((error: unknown) => error);
      await wait(200);
      return run();
    });
    await other.leases.free({ worker: 'w', beats: 1 });
    expect(await writing).toMatchObject({ code: 'lease-lost' });
    expect((await other.log.load('s'))?.head).toBe(1);
  });

  test('that is refused refuses only its own write, also if the same batch has a valid one for the session (B4)', async () => {
    const { open } = newClosingPlace();
    const watched = watchPool(pool());
    const store = open({ pool: watched.pool });
    await join(store);
    for (const id of ['s', 't']) await store.log.write(creating(id));
    // The worker gave it up, and owns it again.
    await store.leases.leave('w', ['s']);
    expect(await claim(store, 'w')).toStrictEqual(['s 3']);
    watched.ran.length = 0;
    const settled = await Promise.allSettled(
      [
        adding('s', 2),
        { ...adding('s', 2), lease: heldBy('w', 3) },
        adding('s', 3),
        adding('t', 2),
        { ...adding('s', 3), lease: heldBy('w', 3) },
      ].map((write) => store.log.write(write)),
    );
    expect(settled.map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : ''))).toStrictEqual([
      'lease-lost',
      '',
      'lease-lost',
      '',
      '',
    ]);
    expect(watched.ran).toHaveLength(4);
    expect([(await store.log.load('s'))?.head, (await store.log.load('t'))?.head]).toStrictEqual([3, 2]);
  });

  test('is never given to a worker that is being removed (S2)', async () => {
    const { open } = newClosingPlace();
    const watched = watchPool(pool());
    const [store, other] = [open({ pool: watched.pool }), open()];
    await join(store);
    await store.heads.list();
    let freeing: Promise<number> | undefined;
    watched.atNextCommit(async ({ run }) => {
      freeing = other.leases.free({ worker: 'w', beats: 1 });
      await wait(200);
      return run();
    });
    await store.log.write(creating('s'));
    expect(await freeing).toBe(1);
    expect((await other.heads.read('s'))?.worker).toBeUndefined();
    await expect(store.log.write(creating('t'))).rejects.toMatchObject({ code: 'lease-lost' });
  });
});

describe('many writers', () => {
  test('that write to the same sessions in any order never wait for each other in a circle', async () => {
    const { open } = newClosingPlace();
    const stores = Array.from({ length: 4 }, () => {
      const watched = watchPool(pool());
      return { watched, store: open({ pool: watched.pool }) };
    });
    const ids = Array.from({ length: 30 }, (_, index) => `s${String(index)}`);
    const creator = open();
    await Promise.all(ids.map((id) => creator.log.write({ ...creating(id), keepsLease: false })));
    await Promise.all(stores.map(({ store }) => store.heads.list()));
    for (const { watched } of stores) watched.ran.length = 0;
    const began = performance.now();
    await Promise.all(
      stores.map(async ({ store }, index) => {
        for (let round = 0; round < 10; round += 1) {
          const mixed = [...ids].sort(() => Math.random() - 0.5);
          const requestId = `${String(index)} ${String(round)}`;
          await Promise.all(mixed.map((sessionId) => store.inbox.post({ sessionId, requestId, at: 1, body: '1' })));
        }
      }),
    );
    // A deadlock is found by the server after a second, and its transaction is tried again.
    expect(stores.map(({ watched }) => watched.ran.length)).toStrictEqual([40, 40, 40, 40]);
    expect(performance.now() - began).toBeLessThan(20_000);
    const mails = await open().inbox.read({ limit: 5000 });
    for (const id of ids)
      expect(mails.filter(({ sessionId }) => sessionId === id).map(({ num }) => num)).toStrictEqual(
        Array.from({ length: 40 }, (_, index) => index + 1),
      );
  });

  test('that create one session at the same time: one does, and the others of their batches are stored', async () => {
    const { open } = newClosingPlace();
    const stores = Array.from({ length: 4 }, () => open());
    await join(open());
    for (let round = 0; round < 5; round += 1) {
      const settled = await Promise.all(
        stores.map((store, index) => {
          const ids = [`x${String(round)}`, `${String(index)}-${String(round)}`, `y${String(round)}`];
          return Promise.allSettled((index % 2 === 0 ? ids : ids.reverse()).map((id) => store.log.write(creating(id))));
        }),
      );
      const codes = settled.flat().flatMap((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : []));
      expect(codes).toStrictEqual(Array(6).fill('session-conflict'));
    }
    expect((await open().heads.list()).sessions).toHaveLength(30);
  });
});

describe('opening', () => {
  test('stores that start at the same time create the tables once (O2)', async () => {
    const schema = newSchema();
    const pools = await Promise.all([1, 2, 3, 4].map(() => openPool(inject('postgresUrl'))));
    const stores = pools.flatMap((each) => [1, 2].map(() => postgresStore({ pool: each, schema })));
    await Promise.all(stores.map((store, index) => join(store, `w${String(index)}`)));
    expect(await stores[0]?.leases.workers()).toHaveLength(8);
    await Promise.all(stores.map((store) => store.close()));
    await Promise.all(pools.map((each) => each.end()));
  });

  test.each([
    ['newer-schema', 1, 'Update Stepline.'],
    ['older-schema', -1, 'Start with a new Postgres schema'],
  ])('leaves a store of another release as it is (O1): %s', async (problem, difference, advice) => {
    const { schema, open } = newPlace();
    await join(open());
    const [, value, sum] = withChecksum('meta', ['schema', schemaVersion + difference]);
    await pool().query(`UPDATE ${schema}.meta SET value = $1, sum = $2 WHERE name = 'schema'`, [value, sum]);
    const read = async (): Promise<unknown> => (await pool().query(`SELECT xmin, * FROM ${schema}.meta ORDER BY name`)).rows;
    const before = await read();
    await expect(open().log.load('s')).rejects.toMatchObject({ problem, message: expect.stringContaining(advice) as string });
    await expect(join(open())).rejects.toMatchObject({ problem });
    expect(await read()).toStrictEqual(before);
  });

  test.each(['CREATE TABLE meta (name text, value text)', 'CREATE TABLE notes (id int)', 'CREATE SEQUENCE numbers'])(
    'leaves a schema that is no store as it is: %s',
    async (text) => {
      const { schema, open } = newPlace();
      await pool().query(`CREATE SCHEMA ${schema}; SET search_path = ${schema}; ${text}; RESET search_path`);
      await expect(join(open())).rejects.toMatchObject({ code: 'store-unavailable', problem: 'not-a-store' });
      const { rows } = await pool().query(`SELECT count(*)::int AS count FROM pg_class WHERE relnamespace = '${schema}'::regnamespace`);
      expect(rows).toStrictEqual([{ count: 1 }]);
    },
  );

  test('uses an empty schema that was made for it', async () => {
    const { schema, open } = newPlace();
    await pool().query(`CREATE SCHEMA ${schema}`);
    await open().log.write({ ...creating('s'), keepsLease: false });
    expect((await open().heads.list()).sessions).toHaveLength(1);
  });

  test('refuses a database with another encoding', async () => {
    const name = newSchema();
    await pool().query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    const latin = await openPool(inject('postgresUrl').replace(/postgres$/, name));
    await expect(join(postgresStore({ pool: latin }))).rejects.toEqual(
      refusal('store-unavailable', 'Create a database with ENCODING UTF8.'),
    );
    await latin.end();
  });
});

/** A pool with settings of its own. */
async function withPool(more: object, work: (store: SessionStore, schema: string) => Promise<void>): Promise<void> {
  const { schema, open } = newPlace();
  const writable = open();
  await join(writable);
  await writable.log.write(creating('s'));
  const own = await openPool(inject('postgresUrl'), more);
  const store = postgresStore({ pool: own, schema, timeoutMs: 500, endsPool: true });
  await work(store, schema);
  await store.close();
  expect(own.ended).toBe(true);
}

describe('a store that cannot be used', () => {
  test('says that it can only be read, and can be read', async () => {
    await withPool({ options: '-c default_transaction_read_only=on' }, async (store) => {
      expect((await store.log.load('s'))?.head).toBe(1);
      await expect(join(store)).rejects.toMatchObject({ code: 'store-unavailable', problem: 'read-only' });
      await expect(store.log.write(adding('s', 2))).rejects.toEqual(refusal('store-unavailable', 'Connect to the primary'));
    });
  });

  test('says that the role has no rights', async () => {
    await pool().query("DO $$ BEGIN CREATE ROLE guest LOGIN PASSWORD 'password'; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    const guest = await openPool(inject('postgresUrl').replace('//postgres:', '//guest:'));
    const store = postgresStore({ pool: guest, schema: newSchema(), endsPool: true });
    await expect(join(store)).rejects.toEqual(refusal('store-unavailable', 'Grant the role its rights on the schema'));
    await store.close();
  });

  test.each([
    ['53100', 'full'],
    ['40001', 'busy'],
    ['XX000', 'failed'],
  ])('says what an error of the server means: %s is %s', async (code, problem) => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool, timeoutMs: 1000 });
    await join(store);
    watched.onQuery = ({ text, run }) => (text.includes('add_log') ? Promise.reject(Object.assign(new Error('no'), { code })) : run());
    const settled = await Promise.allSettled(['a', 'b'].map((id) => store.log.write(creating(id))));
    expect(settled.map(getProblem)).toStrictEqual([problem, problem]);
    watched.onQuery = ({ run }) => run();
    expect((await store.heads.list()).sessions).toStrictEqual([]);
    await store.log.write(creating('a'));
    await store.close();
  });

  test('tries a transaction again that others got in the way of', async () => {
    const watched = watchPool(pool());
    const store = newPlace().open({ pool: watched.pool });
    await join(store);
    const codes = ['40001', '40P01', '55P03'];
    watched.onQuery = ({ text, run }) => {
      const code = text.includes('add_log') ? codes.shift() : undefined;
      return code === undefined ? run() : Promise.reject(Object.assign(new Error('again'), { code }));
    };
    await store.log.write(creating('s'));
    expect([codes, (await store.log.load('s'))?.head]).toStrictEqual([[], 1]);
    await store.close();
  });

  test('gives up on a server that does not answer', async () => {
    const watched = watchPool(pool());
    const { open } = newPlace();
    await join(open());
    const store = open({ pool: watched.pool, timeoutMs: 200 });
    watched.onQuery = () => new Promise(() => undefined);
    await expect(store.log.write(creating('s'))).rejects.toEqual(refusal('store-unavailable', 'no answer came within 200 ms'));
    await expect(store.log.load('s')).rejects.toMatchObject({ problem: 'failed' });
    watched.onQuery = ({ run }) => run();
    await store.log.write(creating('s'));
    await store.close();
  });

  test('says that its pool was ended', async () => {
    const own = await openPool(inject('postgresUrl'));
    const store = newPlace().open({ pool: own });
    await join(store);
    await own.end();
    await expect(join(store)).rejects.toMatchObject({ problem: 'closed' });
    await store.close();
  });

  test('leaves the pool open unless told otherwise', async () => {
    const store = newPlace().open();
    await join(store);
    await store.close();
    expect(pool().ended).toBe(false);
  });
});

describe('texts that Postgres cannot keep', () => {
  test.each(['\0', '\uD800'])('are refused with their place, and fail nobody else: %j', async (broken) => {
    const store = newPlace().open();
    await join(store);
    await store.log.write(creating('s'));
    const entry = { n: 2, at: 2, isSnapshot: false, body: '2' };
    const writes: Readonly<Record<string, Partial<SessionWrite>>> = {
      'its details': { header: header('s', { details: `x${broken}` }) },
      'the body of entry 2': { entries: [{ ...entry, body: broken }] },
      'the events of entry 2': { entries: [{ ...entry, events: broken }] },
      'the body of effect "k"': { effects: [{ key: 'k', phase: 'intent', body: broken }] },
    };
    for (const [name, change] of Object.entries(writes)) {
      const refused = store.log.write({ ...touching('s', 1), ...change });
      await Promise.all([expect(refused).rejects.toEqual(refusal('invalid-argument', name)), store.log.write(creating(`beside ${name}`))]);
    }
    await expect(store.log.write(adding(`s${broken}`, 2))).rejects.toEqual(refusal('invalid-argument', 'its id'));
    await store.log.write(adding('s', 2));
    await store.close();
  });

  test('belong to no session', async () => {
    const store = newPlace().open();
    await join(store);
    await store.log.write({ ...creating('s\uFFFD'), header: header('s\uFFFD', { owner: '\uFFFD' }) });
    for (const name of ['s\0', 's\uD800']) {
      expect([await store.log.load(name), await store.log.entries(name), await store.log.findRequest(name, 'r')]).toStrictEqual([
        undefined,
        [],
        undefined,
      ]);
      await store.heads.quarantine(name, 'x');
    }
    expect((await store.heads.list({ owner: '\uD800' })).sessions).toStrictEqual([]);
    expect((await store.heads.list()).sessions).toMatchObject([{ id: 's\uFFFD' }]);
    await store.close();
  });

  test('are refused if sessions are found by them and they are too long', async () => {
    const store = newPlace().open();
    await join(store);
    const long = '€'.repeat(700);
    await expect(store.log.write(creating(long))).rejects.toEqual(refusal('invalid-argument', 'longer than 2000 bytes'));
    // As random as can be, so that it cannot be made shorter.
    const longest = Array.from({ length: 2000 }, () => Math.floor(Math.random() * 36).toString(36)).join('');
    await store.log.write({ ...creating(longest), header: header(longest, { tags: [longest], owner: longest }) });
    expect((await store.heads.list({ tag: longest })).sessions).toHaveLength(1);
    await store.close();
  });
});

test('survives the loss of connections that are not in use, though nobody listens to the pool (C2)', async () => {
  const bare = await openBarePool(inject('postgresUrl'), { application_name: 'bare' });
  const store = newPlace().open({ pool: bare });
  await join(store);
  const cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bare'";
  expect((await pool().query(cut)).rowCount).toBe(1);
  await wait(50);
  await store.log.write(creating('s'));
  await bare.end();
  await wait(50);
  await store.close();
});

test('converts no types: a pool that reads whole numbers as text or bigint makes no difference', async () => {
  const types = { getTypeParser: () => (text: string) => `<${text}>` };
  const { schema } = newPlace();
  const own = await openPool(inject('postgresUrl'), {
    types: { getTypeParser: (oid: number) => (oid === 25 ? String : types.getTypeParser()) },
  });
  const store = postgresStore({ pool: own, schema, endsPool: true });
  await join(store);
  await store.log.write(creating('s'));
  expect((await store.log.load('s'))?.header).toStrictEqual(header('s'));
  await store.close();
});

test('waits for the disk though the database does not ask for it', async () => {
  const watched = watchPool(await openPool(inject('postgresUrl'), { options: '-c synchronous_commit=off' }));
  const store = newPlace().open({ pool: watched.pool, endsPool: true });
  const settings: unknown[] = [];
  await join(store);
  watched.atNextCommit(async ({ run, client }) => {
    settings.push(...(await client.query('SHOW synchronous_commit')).rows);
    return run();
  });
  await store.log.write(creating('s'));
  expect(settings).toStrictEqual([{ synchronous_commit: 'on' }]);
  await store.close();
});
