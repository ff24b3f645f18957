// Commits whose answer is lost with the connection (R1, R2, P4).
import { describe, expect, test } from 'vitest';
import type { SessionStore } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, creating, header } from './samples.ts';
import type { WatchedPool } from './watched-pool.ts';
import { connectionLost, keepOpen, readPid, watchPool } from './watched-pool.ts';

const { pool, newPlace } = usePool();

async function setUp(timeoutMs = 10_000): Promise<{
  readonly watched: WatchedPool;
  readonly store: SessionStore;
  readonly other: SessionStore;
  readonly epoch: number;
}> {
  const place = newPlace();
  const watched = watchPool(pool());
  const store = place.open({ pool: watched.pool, timeoutMs });
  const epoch = await store.claims.claim();
  await store.log.write(creating('s', epoch));
  return { watched, store, other: place.open(), epoch };
}

const countCommits = ({ ran }: WatchedPool): number => ran.filter((text) => text === 'COMMIT').length;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a commit that the server carried out', () => {
  test('is reported as kept, and not repeated', async () => {
    const { watched, store, epoch } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await Promise.all([store.log.write(adding('s', epoch, 2)), store.log.write(creating('t', epoch))]);
    expect(countCommits(watched)).toBe(1);
    expect([(await store.log.load('s'))?.head, (await store.log.load('t'))?.head]).toStrictEqual([2, 1]);
    await store.log.write(adding('s', epoch, 3));
  });

  test('is waited for while the server still works on it (R1)', async () => {
    const { watched, store, epoch } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(({ client }) => {
      void client.query('SELECT pg_sleep(0.7); COMMIT').finally(keepOpen(client));
      return Promise.reject(connectionLost());
    });
    const began = performance.now();
    await store.log.write(adding('s', epoch, 2));
    expect(performance.now() - began).toBeGreaterThan(600);
    expect(countCommits(watched)).toBe(1);
    expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
  });

  test('is reported as kept though another store has claimed and written since (R2)', async () => {
    const { watched, store, other, epoch } = await setUp();
    watched.atNextCommit(async ({ run }) => {
      await run();
      const claimed = await other.claims.claim();
      await other.log.write(adding('s', claimed, 3));
      throw connectionLost();
    });
    await store.log.write(adding('s', epoch, 2));
    await expect(store.log.write(adding('s', epoch, 4))).rejects.toMatchObject({ code: 'store-fenced' });
    expect((await other.log.load('s'))?.head).toBe(3);
  });

  test.each([
    [
      'a header',
      (store: SessionStore, epoch: number) => store.log.write({ sessionId: 's', epoch, after: 1, header: header('s', { owner: 'o' }) }),
    ],
    [
      'an effect',
      (store: SessionStore, epoch: number) =>
        store.log.write({ sessionId: 's', epoch, after: 1, effects: [{ key: 'k', phase: 'intent', body: '1' }] }),
    ],
    ['a note of damage', (store: SessionStore) => store.heads.quarantine('s', 'broken')],
  ])('is found whatever was written: %s', async (_, write) => {
    const { watched, store, epoch } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await write(store, epoch);
    expect(countCommits(watched)).toBe(1);
  });

  test('of a claim gives the number that was stored', async () => {
    const { watched, store, epoch } = await setUp();
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    expect(await store.claims.claim()).toBe(epoch + 1);
    await store.log.write(adding('s', epoch + 1, 2));
  });
});

describe('a commit that the server did not carry out', () => {
  test('is tried again, and kept once, where the connection is cut in the middle of it', async () => {
    const { watched, store, epoch } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run, client }) => {
      await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
      return run();
    });
    await store.log.write(adding('s', epoch, 2));
    expect(countCommits(watched)).toBe(2);
    expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
  });

  test('cannot be carried out later, where the server has not noticed the loss (R1)', async () => {
    const { watched, store, epoch } = await setUp();
    let late: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(({ run, client }) => {
      late = wait(500).then(run).finally(keepOpen(client));
      late.catch(() => undefined);
      return Promise.reject(connectionLost());
    });
    await store.log.write(adding('s', epoch, 2));
    await expect(late).rejects.toThrow();
    expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
    await store.log.write(adding('s', epoch, 3));
  });

  test('is refused if another store has claimed since', async () => {
    const { watched, store, other, epoch } = await setUp();
    watched.atNextCommit(async ({ run, client }) => {
      await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
      await other.claims.claim();
      return run();
    });
    await expect(store.log.write(adding('s', epoch, 2))).rejects.toMatchObject({ code: 'store-fenced' });
    expect((await other.log.load('s'))?.head).toBe(1);
  });
});

test('a process that stands still in the middle of a transaction keeps nobody from claiming, and writes nothing later', async () => {
  const { watched, store, other, epoch } = await setUp();
  const waking = new EventTarget();
  watched.atNextCommit(async ({ run }) => {
    await new Promise((resolve) => waking.addEventListener('wake', resolve));
    return run();
  });
  const writing = store.log.write(adding('s', epoch, 2));
  await wait(100);
  const began = performance.now();
  await other.claims.claim();
  expect(performance.now() - began).toBeLessThan(2500);
  waking.dispatchEvent(new Event('wake'));
  await expect(writing).rejects.toMatchObject({ code: 'store-fenced' });
  expect((await other.log.load('s'))?.head).toBe(1);
});

test('a commit that cannot be looked up in time is rejected with words that say so, and the store works again later', async () => {
  const { watched, store, epoch } = await setUp(300);
  watched.atNextCommit(async ({ run }) => {
    await run();
    watched.onQuery = () => Promise.reject(connectionLost());
    throw connectionLost();
  });
  const error: unknown = await store.log.write(adding('s', epoch, 2)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'store-unavailable', problem: 'failed' });
  expect(String(error)).toContain('The write may or may not have been kept. Read the session again before you repeat it.');
  watched.onQuery = ({ run }) => run();
  expect((await store.log.load('s'))?.head).toBe(2);
  await expect(store.log.write(adding('s', epoch, 2))).rejects.toMatchObject({ code: 'session-conflict' });
  await store.log.write(adding('s', epoch, 3));
});

test('a connection that is lost before the commit is replaced, and the write is kept once', async () => {
  const { watched, store, epoch } = await setUp();
  let cuts = 0;
  watched.onQuery = async ({ text, run, client }) => {
    if (text.includes('add_log AS') && (cuts += 1) <= 3) await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
    return run();
  };
  await store.log.write(adding('s', epoch, 2));
  expect(cuts).toBe(4);
  expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
});

test('nothing is lost and nothing is stored twice while connections are cut at random', async () => {
  const { store, schema } = (() => {
    const place = newPlace();
    return { store: place.open(), schema: place.schema };
  })();
  const epoch = await store.claims.claim();
  const progress = { isOver: false, cuts: 0 };
  const cutting = (async () => {
    while (!progress.isOver) {
      const { rowCount } = await pool().query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%${schema}%' OR query = 'COMMIT' AND pid <> pg_backend_pid()`,
      );
      progress.cuts += rowCount ?? 0;
      await wait(20 * Math.random());
    }
  })();
  const ids = Array.from({ length: 20 }, (_, index) => `s${String(index)}`);
  await Promise.all(
    ids.map(async (id) => {
      await store.log.write(creating(id, epoch));
      for (let n = 2; n <= 60; n += 1) await store.log.write(adding(id, epoch, n));
    }),
  );
  progress.isOver = true;
  await cutting;
  expect(progress.cuts).toBeGreaterThan(5);
  for (const id of ids)
    expect((await store.log.entries(id)).map(({ n }) => n)).toStrictEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  await store.close();
});
