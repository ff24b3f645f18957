// Watching a store that others write to (W1–W4).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { SessionStore, StoreChange } from '../../src/sessions/index.ts';
import { readPayload, toChannel, toPayload } from '../../src/sessions/postgres/change-feed.ts';
import type { PostgresClient, PostgresPool } from '../../src/sessions/postgres/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { usePool } from './place.ts';
import { adding, claim, creating, free, heldBy, join, touching } from './samples.ts';
import type { Pool } from './server.ts';
import { openPool } from './server.ts';
import { watchPool } from './watched-pool.ts';

const { pool, newClosingPlace: newPlace } = usePool();

const anything = { hasMail: true };
const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 10 });

/** Watches a store; the first call says that it listens. */
async function watch(store: SessionStore): Promise<{ readonly changes: StoreChange[]; readonly stop: () => void }> {
  const changes: StoreChange[] = [];
  const stop = store.changes.watch((change) => void changes.push(change));
  await until(() => expect(changes).toStrictEqual([anything]));
  changes.length = 0;
  return { changes, stop };
}

/** The processes of the server that listen for a pool's name. */
async function findListeners(name: string): Promise<readonly number[]> {
  const { rows } = await pool().query(
    "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_backend_pid()%')",
    [name],
  );
  return rows.map(({ pid }) => Number(pid));
}

async function createNamedPool(name: string, more: object = {}): Promise<Pool> {
  const named = await openPool(inject('postgresUrl'), { application_name: name, ...more });
  onTestFinished(() => named.end());
  return named;
}

describe('who watches a store', () => {
  test('is called for each change that another store makes, with its sessions', async () => {
    const { open } = newPlace();
    const [worker, client] = [open(), open()];
    await join(worker);
    const { changes } = await watch(client);
    const expectChange = async (work: Promise<unknown>, change: StoreChange): Promise<void> => {
      await work;
      await until(() => expect(changes).toStrictEqual([change]));
      changes.length = 0;
    };
    const ofS = { sessionIds: ['s'], hasMail: false };
    await expectChange(worker.log.write(creating('s')), ofS);
    await expectChange(Promise.all([worker.log.write(adding('s', 2)), worker.log.write(creating('t'))]), {
      sessionIds: ['s', 't'],
      hasMail: false,
    });
    await expectChange(worker.log.write({ ...touching('s', 2), rewrites: [{ n: 1, body: '""' }] }), ofS);
    const calling = { sessionIds: ['s'], hasMail: true, workers: ['w'] };
    await expectChange(client.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: '1' }), calling);
    await expectChange(worker.log.write({ ...touching('s', 2), mail: { num: 1, reply: '"no"' } }), ofS);
    await expectChange(worker.log.delete({ sessionId: 's', at: 5 }), calling);
  });

  test('is not called for heartbeats, for writes that were refused, or for another schema', async () => {
    const { open } = newPlace();
    const [store, other] = [open(), newPlace().open()];
    await join(store);
    const { changes } = await watch(store);
    await store.leases.beat('w', 5);
    await expect(store.log.write(adding('s', 2))).rejects.toThrow();
    await join(other);
    await other.log.write(creating('o'));
    await other.inbox.post({ sessionId: 'o', requestId: 'r', at: 1, body: '1' });
    await store.log.write(creating('s'));
    await until(() => expect(changes).toStrictEqual([{ sessionIds: ['s'], hasMail: false }]));
  });

  test('is called within 100 ms', async () => {
    const { open } = newPlace();
    const [worker, client] = [open(), open()];
    await join(worker);
    await worker.log.write(creating('s'));
    const { changes } = await watch(worker);
    const late: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await client.inbox.post({ sessionId: 's', requestId: String(round), at: 1, body: '1' });
      const posted = performance.now();
      await until(() => expect(changes).toHaveLength(round + 1));
      late.push(performance.now() - posted);
    }
    expect(Math.min(...late)).toBeLessThan(100);
  });

  test('shares one connection with all others of the store, which is given back when the last one leaves (W1)', async () => {
    const name = 'one listener';
    const store = newPlace().open({ pool: await createNamedPool(name) });
    await join(store);
    await store.log.write(creating('s'));
    const watching = [await watch(store)];
    for (let count = 0; count < 5; count += 1) {
      const changes: StoreChange[] = [];
      watching.push({ changes, stop: store.changes.watch((change) => void changes.push(change)) });
    }
    expect(await findListeners(name)).toHaveLength(1);
    await store.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: '1' });
    const mailed = [{ sessionIds: ['s'], hasMail: true, workers: ['w'] }];
    await until(() => expect(watching.map(({ changes }) => changes)).toStrictEqual(Array(6).fill(mailed)));
    for (const { stop } of watching.slice(1)) stop();
    expect(await findListeners(name)).toHaveLength(1);
    watching[0]?.stop();
    await until(async () => expect(await findListeners(name)).toStrictEqual([]));
    await store.inbox.post({ sessionId: 's', requestId: 'q', at: 2, body: '2' });
    await watch(store);
    expect(watching.map(({ changes }) => changes.length)).toStrictEqual(Array(6).fill(1));
  });

  test('is called when a lost connection listens again, and hears what comes then (W2)', async () => {
    const name = 'lost listener';
    const { open } = newPlace();
    const [store, other] = [open({ pool: await createNamedPool(name) }), open()];
    await join(store);
    for (const id of ['s', 't']) await store.log.write(creating(id));
    const { changes } = await watch(store);
    for (let round = 0; round < 2; round += 1) {
      const [pid] = await findListeners(name);
      await pool().query('SELECT pg_terminate_backend($1)', [pid]);
      await other.inbox.post({ sessionId: 's', requestId: String(round), at: 1, body: '1' });
      await until(() => expect(changes).toContainEqual(anything));
      await until(async () => expect((await findListeners(name)).filter((each) => each !== pid)).toHaveLength(1));
      await other.inbox.post({ sessionId: 't', requestId: String(round), at: 1, body: '1' });
      await until(() => expect(changes).toContainEqual({ sessionIds: ['t'], hasMail: true, workers: ['w'] }));
      changes.length = 0;
    }
  });

  test('is not called any more when the store is closed, and the connection is given back', async () => {
    const name = 'closed listener';
    const named = await createNamedPool(name);
    const { open } = newPlace();
    const [store, other] = [open({ pool: named }), open()];
    await join(other);
    await other.log.write(creating('s'));
    const { changes } = await watch(store);
    await store.close();
    await other.inbox.post({ sessionId: 's', requestId: 'r', at: 1, body: '1' });
    await until(async () => expect(await findListeners(name)).toStrictEqual([]));
    expect(changes).toStrictEqual([]);
    expect(() => store.changes.watch(() => undefined)).toThrow(expect.objectContaining({ problem: 'closed' }));
  });

  test('does not keep the pool from ending, though the store is open', async () => {
    const own = await openPool(inject('postgresUrl'));
    const { changes } = await watch(newPlace().open({ pool: own }));
    await own.end();
    expect(changes).toStrictEqual([]);
  });

  test('does not keep the process alive (W3)', async () => {
    const source = new URL('../../src/sessions/postgres/index.ts', import.meta.url).href;
    const pg = import.meta.resolve('pg');
    const script = `
      const { postgresStore } = await import(${JSON.stringify(source)});
      const { default: { Pool } } = await import(${JSON.stringify(pg)});
      const pool = new Pool({ connectionString: ${JSON.stringify(inject('postgresUrl'))}, allowExitOnIdle: true });
      const store = postgresStore({ pool, schema: 'test_exits' });
      await new Promise((resolve) => store.changes.watch(resolve));
      console.log('listens');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    const began = performance.now();
    expect((await exited)[0]).toBe(0);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('the workers that a change names', () => {
  /** Stores a change, and returns the workers that it names. */
  async function findWorkers(store: SessionStore, work: () => Promise<unknown>): Promise<readonly string[] | undefined> {
    const { changes, stop } = await watch(store);
    await work();
    await until(() => expect(changes).toMatchObject([{ hasMail: true }]));
    stop();
    return changes[0]?.workers;
  }
  const post = (store: SessionStore, sessionId: string, requestId: string): Promise<unknown> =>
    store.inbox.post({ sessionId, requestId, at: 1, body: '1' });

  test('are the owner of a session that got mail, or the one who had it last if that has room', async () => {
    const store = newPlace().open();
    for (const id of ['v', 'w', 'x']) await join(store, id);
    await store.log.write(creating('owned'));
    await store.log.write({ ...creating('ready'), keepsLease: false });
    expect(await findWorkers(store, () => post(store, 'owned', '1'))).toStrictEqual(['w']);
    expect(await findWorkers(store, () => post(store, 'ready', '1'))).toStrictEqual(['w']);
    // The owner is called whatever room it has; for a ready session anybody else with room is better.
    await store.leases.beat('w', 0);
    expect(await findWorkers(store, () => post(store, 'owned', '2'))).toStrictEqual(['w']);
    const others = new Set<string>();
    for (let count = 2; others.size < 2; count += 1)
      for (const id of (await findWorkers(store, () => post(store, 'ready', String(count)))) ?? ['none']) others.add(id);
    expect([...others].sort()).toStrictEqual(['v', 'x']);
  });

  test('have room, and run the agent', async () => {
    const store = newPlace().open();
    await store.leases.join({ id: 'other', joinedAt: 1, agents: ['b'] }, { room: 5 });
    await join(store, 'full', 0);
    await store.log.write({ ...creating('s'), keepsLease: false });
    expect(await findWorkers(store, () => post(store, 's', '1'))).toBeUndefined();
    await join(store, 'x', 1);
    expect(await findWorkers(store, () => post(store, 's', '2'))).toStrictEqual(['x']);
  });

  test('are found for writes that leave a session ready, and for sessions that are freed', async () => {
    const store = newPlace().open();
    for (const id of ['v', 'w']) await join(store, id);
    await store.log.write(creating('s'));
    expect(await findWorkers(store, () => store.log.write({ ...adding('s', 2), keepsLease: false }))).toStrictEqual(['w']);
    expect(await claim(store, 'w')).toStrictEqual(['s 2']);
    expect(await findWorkers(store, () => store.leases.free({ worker: 'w', beats: 1 }))).toStrictEqual(['v']);
    expect(await claim(store, 'v')).toStrictEqual(['s 4']);
    await store.log.write({ ...adding('s', 3), lease: heldBy('v', 4) });
    expect(await findWorkers(store, () => store.leases.leave('v', ['s']))).toStrictEqual(['v']);
    await store.leases.leave('v');
    expect(await findWorkers(store, () => post(store, 's', '1'))).toBeUndefined();
  });

  test('are all who are needed for a batch, each once', async () => {
    const store = newPlace().open();
    for (const id of ['v', 'w']) await join(store, id);
    await store.log.write({ ...creating('s'), lease: free(0, 'v') });
    for (const id of ['t', 'u']) await store.log.write(creating(id));
    const workers = await findWorkers(store, () => Promise.all(['s', 't', 'u'].map((id) => post(store, id, '1'))));
    expect([...(workers ?? [])].sort()).toStrictEqual(['v', 'w']);
  });
});

/** A pool whose connections differ from pg's. */
const changePool = (inner: Pool, change: (client: PostgresClient) => object, more: Partial<PostgresPool> = {}): PostgresPool => ({
  connect: async () => {
    const client = await inner.connect();
    const plain: PostgresClient = {
      query: (text, values) => client.query(text, values),
      release: (destroy) => client.release(destroy),
      ...(client.on && { on: client.on.bind(client) }),
      processID: client.processID ?? null,
    };
    return { ...plain, ...change(client) };
  },
  end: () => inner.end(),
  ...more,
});

describe('a pool whose notifications may not arrive', () => {
  test.each<readonly [string, (inner: Pool) => PostgresPool]>([
    ['has none', (inner) => changePool(inner, () => ({ on: undefined }))],
    ['has one connection', (inner) => changePool(inner, () => ({}), { options: { max: 1 } })],
    ['is behind a pooler', (inner) => changePool(inner, () => ({ processID: 1, on: () => undefined }))],
  ])('is looked at every second (W4): it %s', async (_, toPool) => {
    const clock = createFakeClock();
    const store = newPlace().open({ pool: toPool(pool()), clock });
    const changes: StoreChange[] = [];
    const stop = store.changes.watch((change) => void changes.push(change));
    await new Promise((resolve) => setTimeout(resolve, 100));
    changes.length = 0;
    for (let seconds = 1; seconds <= 3; seconds += 1) {
      await clock.advance(1000);
      expect(changes).toStrictEqual(Array(seconds).fill(anything));
    }
    stop();
    await clock.advance(5000);
    expect(changes).toHaveLength(3);
  });

  test('is not looked at if another one listens, which does nothing else and needs one connection', async () => {
    const clock = createFakeClock();
    const inner = await createNamedPool('listens', { max: 1 });
    const [listening, working] = [watchPool(inner), watchPool(pool())];
    const listenPool = { ...listening.pool, options: { max: 1 } };
    const place = newPlace();
    const store = place.open({ pool: working.pool, listenPool, clock });
    const { changes, stop } = await watch(store);
    await join(store);
    await place.open().log.write(creating('s'));
    await until(() => expect(changes).toStrictEqual([{ sessionIds: ['s'], hasMail: false }]));
    await clock.advance(9000);
    expect(changes).toHaveLength(1);
    expect(await store.leases.workers()).toMatchObject([{ isConnected: true }]);
    expect(working.ran.filter((text) => text.includes('LISTEN'))).toStrictEqual([]);
    expect(listening.ran).toStrictEqual([`LISTEN "${toChannel(place.schema)}"`, expect.stringContaining('pg_stat_activity')]);
    stop();
    await until(async () => expect((await store.leases.workers())[0]?.isConnected).toBe(false));
  });

  test('ends with the other one, if both are the store’s', async () => {
    const [own, listening] = [await openPool(inject('postgresUrl')), await openPool(inject('postgresUrl'))];
    const store = newPlace().open({ pool: own, listenPool: listening, endsPool: true });
    await watch(store);
    await store.close();
    expect([own.ended, listening.ended]).toStrictEqual([true, true]);
  });

  test('is not looked at while it listens', async () => {
    const clock = createFakeClock();
    const { changes } = await watch(newPlace().open({ clock }));
    await clock.advance(9000);
    expect(changes).toStrictEqual([]);
  });
});

describe('a connection that is silent', () => {
  test('is replaced if it does not answer', async () => {
    const clock = createFakeClock();
    let isDead = false;
    let connections = 0;
    const silent = changePool(pool(), (client) => {
      connections += 1;
      return {
        query: (text: string, values?: unknown[]) => (isDead ? new Promise(() => undefined) : client.query(text, values)),
      };
    });
    const { changes } = await watch(newPlace().open({ pool: silent, clock, timeoutMs: 2000 }));
    isDead = true;
    await clock.advance(10_000);
    expect(connections).toBe(1);
    isDead = false;
    await clock.advance(2000);
    await until(async () => {
      await clock.advance(100);
      expect(connections).toBe(2);
      expect(changes).toContainEqual(anything);
    });
  });
});

describe('a payload', () => {
  test('names no sessions if they are too many', () => {
    const sessionIds = Array.from({ length: 1000 }, (_, index) => `€${String(index)}`);
    expect(readPayload(toPayload({ sessionIds: sessionIds.slice(0, 100), hasMail: true })).sessionIds).toHaveLength(100);
    expect(readPayload(toPayload({ sessionIds, hasMail: false }))).toStrictEqual({ hasMail: false });
    const workers = ['v', 'w'];
    expect(readPayload(toPayload({ sessionIds, hasMail: true, workers }))).toStrictEqual({ hasMail: true, workers });
    expect(readPayload(toPayload({ sessionIds, hasMail: true, workers: sessionIds }))).toStrictEqual({ hasMail: true });
    const ids = ['€'.repeat(2400)];
    expect(Buffer.byteLength(toPayload({ sessionIds: ids, hasMail: true }))).toBeLessThanOrEqual(7000);
  });

  test.each(['', 'x', '1', 'null', '{"sessionIds":[1]}', '{"sessionIds":"s"}'])('of something else stands for any change: %j', (text) => {
    expect(readPayload(text)).toStrictEqual(anything);
  });

  test('too long for a notification is still stored', async () => {
    const store = newPlace().open();
    await join(store);
    const { changes } = await watch(store);
    await Promise.all(Array.from({ length: 900 }, (_, index) => store.log.write(creating(`session ${String(index)}`))));
    await until(() => expect(changes).toStrictEqual([{ hasMail: false }]));
  });
});

test('a channel has a name of its own for each schema, and is not too long', () => {
  const long = 'a'.repeat(62);
  expect(toChannel('sessions')).toBe('stepline_sessions');
  expect(toChannel(`${long}x`)).not.toBe(toChannel(`${long}y`));
  expect(toChannel(`${long}x`)).toHaveLength(63);
});
