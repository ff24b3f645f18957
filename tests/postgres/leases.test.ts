// Workers and leases on a real server: its clock, its connections, and many processes at once (S1–S3).
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { SessionStore, SessionWrite, StoredWorker } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, claim, creating, free, header, heldBy, join } from './samples.ts';
import { openPool } from './server.ts';
import { watchPool } from './watched-pool.ts';

const { pool, newClosingPlace: newPlace } = usePool();

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 20 });

/** Creates a session that is ready, and that nobody had before who is still there. */
const creatingReady = (id: string, more: Partial<SessionWrite['header']> = {}): SessionWrite => ({
  ...creating(id),
  ...{ lease: free(0, 'gone'), keepsLease: false, header: header(id, more) },
});

async function findWorker(store: SessionStore, id: string): Promise<StoredWorker | undefined> {
  return (await store.leases.workers()).find((worker) => worker.id === id);
}

describe('a worker', () => {
  test('is connected while the connection that listens is there, as of its last beat', async () => {
    const { open } = newPlace();
    const name = 'connected worker';
    const own = await openPool(inject('postgresUrl'), { application_name: name });
    onTestFinished(() => own.end());
    const [store, other] = [open({ pool: own }), open()];
    await join(store, 'w');
    expect(await findWorker(other, 'w')).not.toHaveProperty('isConnected');
    let calls = 0;
    const stop = store.changes.watch(() => (calls += 1));
    await until(() => expect(calls).toBe(1));
    expect(await store.leases.beat('w', 1)).toBe(true);
    expect(await findWorker(other, 'w')).toMatchObject({ isConnected: true, room: 1, beats: 2 });
    await pool().query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'SELECT pg_backend_pid()%'",
      [name],
    );
    await until(async () => expect(await findWorker(other, 'w')).toMatchObject({ isConnected: false }));
    // It listens again, and says so.
    await until(() => expect(calls).toBeGreaterThan(1));
    await until(async () => {
      await store.leases.beat('w', 1);
      expect(await findWorker(other, 'w')).toMatchObject({ isConnected: true });
    });
    stop();
    await until(async () => {
      await store.leases.beat('w', 1);
      expect(await findWorker(other, 'w')).not.toHaveProperty('isConnected');
    });
  });

  test.each([
    ['listener_start', '1', { isConnected: false }],
    ['server_start', '1', {}],
  ])('is not taken for connected by the number of another connection: %s', async (column, value, expected) => {
    const { schema, open } = newPlace();
    const store = open();
    let calls = 0;
    store.changes.watch(() => (calls += 1));
    await until(() => expect(calls).toBe(1));
    await join(store, 'w');
    expect(await findWorker(store, 'w')).toHaveProperty('isConnected', true);
    await pool().query(`UPDATE ${schema}.workers SET ${column} = $1`, [value]);
    const { isConnected, ...rest } = (await findWorker(store, 'w')) ?? {};
    expect({ ...(isConnected !== undefined && { isConnected }) }).toStrictEqual(expected);
    expect(rest).toMatchObject({ id: 'w' });
  });

  test('is silent by the clock of the server, whatever the clocks of the processes say', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await join(store, 'w');
    await pool().query(`UPDATE ${schema}.workers SET beat_at = clock_timestamp() - interval '1 hour'`);
    const silentMs = (await findWorker(store, 'w'))?.silentMs ?? 0;
    expect([silentMs >= 3_600_000, silentMs < 3_610_000]).toStrictEqual([true, true]);
    await store.leases.beat('w', 1);
    expect((await findWorker(store, 'w'))?.silentMs).toBeLessThan(10_000);
  });

  test('with an id that cannot be stored is refused, and is nobody otherwise', async () => {
    const store = newPlace().open();
    for (const id of ['\0', '\uD800', 'x'.repeat(2001)]) await expect(join(store, id)).rejects.toMatchObject({ code: 'invalid-argument' });
    await store.log.write(creatingReady('s'));
    for (const id of ['\0', '\uD800']) {
      expect([await store.leases.beat(id, 1), await store.leases.free({ worker: id, beats: 1 }), await claim(store, id)]).toStrictEqual([
        false,
        0,
        [],
      ]);
      await store.leases.leave(id);
    }
    await join(store, 'w');
    expect(await claim(store, 'w', ['s', '\0', 'a"b\\c{,}'])).toStrictEqual(['s 2']);
  });
});

describe('a claim', () => {
  test.each(['plain', 'quote " and \\ backslash', '{a,b}', 'NULL', '', 'ü €', "it's"])(
    'finds names with any characters: %j',
    async (name) => {
      const store = newPlace().open();
      const id = `s ${name}`;
      await join(store, 'w');
      await store.log.write(creatingReady(id, { agentName: name, agentRelease: name }));
      const query = { worker: 'w', limit: 5, maxFormat: 1, now: 0 };
      const ask = async (more: object): Promise<number> =>
        (await store.leases.claim({ ...query, agents: [{ name, releases: [name] }], ...more })).sessions.length;
      expect(await ask({ agents: [{ name, releases: [`${name}x`] }] })).toBe(0);
      expect(await ask({ agents: [{ name: `${name}x` }] })).toBe(0);
      expect(await ask({ except: ['y', id] })).toBe(0);
      expect(await ask({ sessionIds: ['y'] })).toBe(0);
      expect(await ask({ sessionIds: ['y', id] })).toBe(1);
    },
  );

  test('does not wait for a session that is being written to, and takes the next ones (S3)', async () => {
    const { open } = newPlace();
    const watched = watchPool(pool());
    const [store, other] = [open({ pool: watched.pool }), open()];
    await join(other, 'w');
    for (const id of ['a', 'b', 'c']) await store.log.write(creatingReady(id));
    let claimed: readonly string[] = [];
    watched.atNextCommit(async ({ run }) => {
      const { sessions } = await other.leases.claim({ worker: 'w', limit: 2, agents: [{ name: 'a' }], maxFormat: 1, now: 0 });
      claimed = sessions.map(({ sessionId }) => sessionId);
      return run();
    });
    await store.inbox.post({ sessionId: 'a', requestId: 'r', at: 1, body: '1' });
    expect(claimed).toStrictEqual(['b', 'c']);
    expect(await claim(other, 'w')).toStrictEqual(['a 2']);
  });

  test('that finds nothing writes nothing', async () => {
    const { schema, open } = newPlace();
    const store = open();
    await join(store, 'w', 0);
    await store.log.write({ ...creatingReady('s'), header: header('s', { agentName: 'other' }) });
    await store.log.write(creatingReady('t'));
    const readXid = async (): Promise<unknown> => (await pool().query(`SELECT xmin::text, xmax::text FROM ${schema}.workers`)).rows;
    const before = await readXid();
    expect((await store.leases.claim({ worker: 'w', limit: 0, agents: [{ name: 'a' }], maxFormat: 1, now: 0 })).sessions).toStrictEqual([]);
    expect((await store.leases.claim({ worker: 'w', limit: 5, agents: [{ name: 'b' }], maxFormat: 1, now: 0 })).sessions).toStrictEqual([]);
    expect(await readXid()).toStrictEqual(before);
  });

  test('leaves a session that was owned in between, though it was ready when the claim began', async () => {
    const { schema, open } = newPlace();
    const [store, other] = [open(), open()];
    for (const id of ['v', 'w']) await join(store, id);
    await store.log.write(creatingReady('s', { wakeAt: 5, isOpen: false }));
    // The claim has read the session, and waits for its worker's row.
    const blocker = await pool().connect();
    await blocker.query(`BEGIN; SELECT 1 FROM ${schema}.workers WHERE id = 'w' FOR UPDATE`);
    const late = other.leases.claim({ worker: 'w', limit: 5, agents: [{ name: 'a' }], maxFormat: 1, now: 10 });
    await wait(200);
    const first = await store.leases.claim({ worker: 'v', limit: 5, agents: [{ name: 'a' }], maxFormat: 1, now: 10 });
    const [session] = first.sessions;
    expect(session).toMatchObject({ sessionId: 's', head: 1 });
    const fence = session?.fence ?? 0;
    await store.log.write({ ...adding('s', 2), lease: heldBy('v', fence), keepsLease: false, header: header('s', { isOpen: false }) });
    await blocker.query('COMMIT');
    blocker.release();
    expect((await late).sessions).toStrictEqual([]);
    expect(await store.heads.read('s')).toMatchObject({ head: 2, fence });
  });

  test('and a freed worker: whatever the order, nobody owns a session who is not there (S2)', async () => {
    const { open } = newPlace();
    const stores = [open(), open(), open()] as const;
    const ids = Array.from({ length: 20 }, (_, index) => `s${String(index)}`);
    await Promise.all(ids.map((id) => stores[0].log.write(creatingReady(id))));
    for (let round = 0; round < 20; round += 1) {
      const worker = `w${String(round)}`;
      await join(stores[0], worker);
      await Promise.all([claim(stores[1], worker, ids), stores[2].leases.free({ worker, beats: 1 })]);
      const owners = await Promise.all(ids.map(async (id) => (await stores[0].heads.read(id))?.worker));
      expect(owners).toStrictEqual(Array(20).fill(undefined));
    }
    expect(await stores[0].leases.free()).toBe(0);
  });
});

test('sessions of an owner that is not known are freed, and those of others are not', async () => {
  const { schema, open } = newPlace();
  const store = open();
  for (const id of ['v', 'w']) await join(store, id);
  await store.log.write({ ...creating('s'), isStepping: true });
  await store.log.write({ ...creating('t'), lease: free(0, 'v') });
  await pool().query(`DELETE FROM ${schema}.workers WHERE id = 'w'`);
  expect([await store.leases.free(), await store.leases.free()]).toStrictEqual([1, 0]);
  expect(await store.heads.read('s')).toMatchObject({ fence: 2, attempts: 1 });
  expect(await store.heads.read('t')).toMatchObject({ fence: 1, worker: 'v' });
});
