// Commits whose answer is lost with the connection (R1, R2, P4).
import { describe, expect, test } from 'vitest';
import type { SessionStore } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, claim, creating, header, heldBy, join, touching } from './samples.ts';
import type { WatchedPool } from './watched-pool.ts';
import { connectionLost, isCommit, keepOpen, readPid, watchPool } from './watched-pool.ts';

const { pool, newPlace } = usePool();

async function setUp(timeoutMs = 10_000): Promise<{
  readonly watched: WatchedPool;
  readonly store: SessionStore;
  readonly other: SessionStore;
}> {
  const place = newPlace();
  const watched = watchPool(pool());
  const store = place.open({ pool: watched.pool, timeoutMs });
  await join(store);
  await store.log.write(creating('s'));
  return { watched, store, other: place.open() };
}

/** Takes session `s` from its worker, as one that is gone. */
async function takeOver(store: SessionStore): Promise<void> {
  await store.leases.free({ worker: 'w', beats: 1 });
  await join(store, 'v');
  expect(await claim(store, 'v')).toStrictEqual(['s 3']);
}

const countCommits = ({ ran }: WatchedPool): number => ran.filter(isCommit).length;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a commit that the server carried out', () => {
  test('is reported as kept, and not repeated', async () => {
    const { watched, store } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await Promise.all([store.log.write(adding('s', 2)), store.log.write(creating('t'))]);
    expect(countCommits(watched)).toBe(1);
    expect([(await store.log.load('s'))?.head, (await store.log.load('t'))?.head]).toStrictEqual([2, 1]);
    await store.log.write(adding('s', 3));
  });

  test('is waited for while the server still works on it (R1)', async () => {
    const { watched, store } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(({ client }) => {
      void client.query('SELECT pg_sleep(0.7); COMMIT').finally(keepOpen(client));
      return Promise.reject(connectionLost());
    });
    const began = performance.now();
    await store.log.write(adding('s', 2));
    expect(performance.now() - began).toBeGreaterThan(600);
    expect(countCommits(watched)).toBe(1);
    expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
  });

  test('is reported as kept though another worker owns the session and has written since (R2)', async () => {
    const { watched, store, other } = await setUp();
    watched.atNextCommit(async ({ run }) => {
      await run();
      await takeOver(other);
      await other.log.write({ ...adding('s', 3), lease: heldBy('v', 3) });
      throw connectionLost();
    });
    await store.log.write(adding('s', 2));
    await expect(store.log.write(adding('s', 4))).rejects.toMatchObject({ code: 'lease-lost' });
    expect((await other.log.load('s'))?.head).toBe(3);
  });

  test.each([
    ['a header', (store: SessionStore) => store.log.write({ ...touching('s', 1), header: header('s', { owner: 'o' }) })],
    ['an effect', (store: SessionStore) => store.log.write({ ...touching('s', 1), effects: [{ key: 'k', phase: 'intent', body: '1' }] })],
    ['a note of damage', (store: SessionStore) => store.heads.quarantine('s', 'broken')],
  ])('is found whatever was written: %s', async (_, write) => {
    const { watched, store } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run }) => {
      await run();
      throw connectionLost();
    });
    await write(store);
    expect(countCommits(watched)).toBe(1);
  });

  test('is not repeated if only the notification behind it fails, and watchers are called again', async () => {
    const { watched, store, other } = await setUp();
    const changes: unknown[] = [];
    other.changes.watch((change) => changes.push(change));
    await wait(300);
    changes.length = 0;
    watched.ran.length = 0;
    watched.atNextCommit(async ({ client }) => client.query(`COMMIT; SELECT pg_notify('c', repeat('x', 9000))`));
    await store.log.write(adding('s', 2));
    expect(countCommits(watched)).toBe(1);
    watched.atNextCommit(async ({ client }) => {
      await client.query('COMMIT');
      throw Object.assign(new Error('too many notifications in the NOTIFY queue'), { code: '54000', severity: 'ERROR' });
    });
    await store.log.write(adding('s', 3));
    expect(countCommits(watched)).toBe(2);
    await wait(300);
    expect(changes).toStrictEqual([2, 3].map(() => ({ sessionIds: ['s'], hasMail: false })));
    await other.close();
  });

  test('is found out without waiting for the transactions of other stores (R2)', async () => {
    const place = newPlace();
    const [watched, slow] = [watchPool(pool()), watchPool(pool())];
    const [store, other] = [place.open({ pool: watched.pool }), place.open({ pool: slow.pool })];
    await join(store);
    for (const id of ['s', 't']) await store.log.write(creating(id));
    slow.atNextCommit(async ({ run }) => {
      watched.atNextCommit(async (statement) => {
        await statement.run();
        throw connectionLost();
      });
      await store.log.write(adding('s', 2));
      return run();
    });
    await other.log.write(adding('t', 2));
    expect([(await store.log.load('s'))?.head, (await store.log.load('t'))?.head]).toStrictEqual([2, 2]);
  });
});

describe('a claim', () => {
  const atNextClaim = (watched: WatchedPool, work: WatchedPool['onQuery']): void => {
    watched.onQuery = (statement) => {
      if (!statement.text.includes('claimable')) return statement.run();
      watched.onQuery = ({ run }) => run();
      return work(statement);
    };
  };
  const give = async ({ store, other }: { readonly store: SessionStore; readonly other: SessionStore }): Promise<void> => {
    await store.leases.leave('w', ['s']);
    await join(other, 'v');
  };

  test('that was committed and whose answer was lost gives its sessions (S1)', async () => {
    const { watched, store, other } = await setUp();
    await give({ store, other });
    atNextClaim(watched, async ({ run }) => {
      await run();
      throw connectionLost();
    });
    expect(await claim(store, 'w')).toStrictEqual(['s 3']);
    await store.log.write({ ...adding('s', 2), lease: heldBy('w', 3) });
    expect(await claim(store, 'w')).toStrictEqual([]);
  });

  test('that the server still works on is waited for (S1)', async () => {
    const { watched, store, other } = await setUp();
    await give({ store, other });
    atNextClaim(watched, async ({ run, client }) => {
      const close = keepOpen(client);
      await client.query('BEGIN');
      await run();
      void wait(300)
        .then(() => client.query('COMMIT'))
        .finally(close);
      throw connectionLost();
    });
    expect(await claim(store, 'w')).toStrictEqual(['s 3']);
    expect(await store.heads.read('s')).toMatchObject({ fence: 3, worker: 'w' });
  });

  test('whose answer could not be found out in time gives its sessions to the next one (S1)', async () => {
    const { watched, store, other } = await setUp(300);
    await give({ store, other });
    atNextClaim(watched, async ({ run }) => {
      await run();
      watched.onQuery = () => Promise.reject(connectionLost());
      throw connectionLost();
    });
    await expect(claim(store, 'w')).rejects.toMatchObject({ code: 'store-unavailable' });
    watched.onQuery = ({ run }) => run();
    expect(await claim(store, 'w')).toStrictEqual(['s 3']);
    expect(await claim(store, 'w')).toStrictEqual([]);
  });

  test('of many workers at once gives each session to one of them', async () => {
    const { store, other } = await setUp();
    const ids = Array.from({ length: 100 }, (_, index) => `t${String(index)}`);
    await Promise.all(
      ids.map((id) => store.log.write({ ...creating(id), lease: { ...creating(id).lease, worker: 'gone' }, keepsLease: false })),
    );
    for (const id of ['a', 'b', 'c']) await join(store, id);
    const claimed = await Promise.all(['a', 'b', 'c', 'w'].map((id, index) => claim(index % 2 === 0 ? store : other, id)));
    expect(claimed.flat().sort()).toStrictEqual(ids.map((id) => `${id} 2`).sort());
  });
});

describe('a commit that the server did not carry out', () => {
  test('is tried again, and kept once, where the connection is cut in the middle of it', async () => {
    const { watched, store } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ run, client }) => {
      await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
      return run();
    });
    await store.log.write(adding('s', 2));
    expect(countCommits(watched)).toBe(2);
    expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
  });

  test('cannot be carried out later, where the server has not noticed the loss (R1)', async () => {
    const { watched, store } = await setUp();
    let late: Promise<unknown> = Promise.resolve();
    watched.atNextCommit(({ run, client }) => {
      late = wait(500).then(run).finally(keepOpen(client));
      late.catch(() => undefined);
      return Promise.reject(connectionLost());
    });
    await store.log.write(adding('s', 2));
    await expect(late).rejects.toThrow();
    expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
    await store.log.write(adding('s', 3));
  });

  test('because of an error of its own is reported as that', async () => {
    const { watched, store } = await setUp();
    watched.ran.length = 0;
    watched.atNextCommit(async ({ client }) => {
      await client.query('ROLLBACK');
      throw Object.assign(new Error('No space left on device'), { code: '53100', severity: 'ERROR' });
    });
    await expect(store.log.write(adding('s', 2))).rejects.toMatchObject({ code: 'store-unavailable', problem: 'full' });
    expect(countCommits(watched)).toBe(1);
    await store.log.write(adding('s', 2));
  });

  test('is refused if another worker owns the session since', async () => {
    const { watched, store, other } = await setUp();
    watched.atNextCommit(async ({ run, client }) => {
      await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
      await takeOver(other);
      return run();
    });
    await expect(store.log.write(adding('s', 2))).rejects.toMatchObject({ code: 'lease-lost' });
    expect((await other.log.load('s'))?.head).toBe(1);
  });
});

test('a process that stands still in the middle of a transaction keeps nobody from its sessions, and writes nothing later', async () => {
  const { watched, store, other } = await setUp();
  const waking = new EventTarget();
  watched.atNextCommit(async ({ run }) => {
    await new Promise((resolve) => waking.addEventListener('wake', resolve));
    return run();
  });
  const writing = store.log.write(adding('s', 2));
  await wait(100);
  const began = performance.now();
  await takeOver(other);
  expect(performance.now() - began).toBeLessThan(2500);
  waking.dispatchEvent(new Event('wake'));
  await expect(writing).rejects.toMatchObject({ code: 'lease-lost' });
  expect((await other.log.load('s'))?.head).toBe(1);
});

test('a commit that cannot be looked up in time is rejected with words that say so, and the store works again later', async () => {
  const { watched, store } = await setUp(300);
  watched.atNextCommit(async ({ run }) => {
    await run();
    watched.onQuery = () => Promise.reject(connectionLost());
    throw connectionLost();
  });
  const error: unknown = await store.log.write(adding('s', 2)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'store-unavailable', problem: 'failed' });
  expect(String(error)).toContain('The write may or may not have been kept. Read the session again before you repeat it.');
  watched.onQuery = ({ run }) => run();
  expect((await store.log.load('s'))?.head).toBe(2);
  await expect(store.log.write(adding('s', 2))).rejects.toMatchObject({ code: 'session-conflict' });
  await store.log.write(adding('s', 3));
});

test('a connection that is lost before the commit is replaced, and the write is kept once', async () => {
  const { watched, store } = await setUp();
  let cuts = 0;
  watched.onQuery = async ({ text, run, client }) => {
    if (text.includes('add_log AS') && (cuts += 1) <= 3) await pool().query('SELECT pg_terminate_backend($1)', [await readPid(client)]);
    return run();
  };
  await store.log.write(adding('s', 2));
  expect(cuts).toBe(4);
  expect((await store.log.entries('s')).map(({ n }) => n)).toStrictEqual([1, 2]);
});

test('nothing is lost and nothing is stored twice while connections are cut at random', async () => {
  const { store, schema } = (() => {
    const place = newPlace();
    return { store: place.open(), schema: place.schema };
  })();
  await join(store);
  const progress = { isOver: false, cuts: 0 };
  const cutting = (async () => {
    while (!progress.isOver) {
      const { rowCount } = await pool().query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%${schema}%' OR query LIKE 'COMMIT%' AND pid <> pg_backend_pid()`,
      );
      progress.cuts += rowCount ?? 0;
      await wait(20 * Math.random());
    }
  })();
  const ids = Array.from({ length: 20 }, (_, index) => `s${String(index)}`);
  await Promise.all(
    ids.map(async (id) => {
      await store.log.write(creating(id));
      for (let n = 2; n <= 60; n += 1) await store.log.write(adding(id, n));
    }),
  );
  progress.isOver = true;
  await cutting;
  expect(progress.cuts).toBeGreaterThan(5);
  for (const id of ids)
    expect((await store.log.entries(id)).map(({ n }) => n)).toStrictEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  await store.close();
});
