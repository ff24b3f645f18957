// The order of commits on a real server: batches that get their numbers early and commit late, are rolled back, or are of another process.
import { describe, expect, test } from 'vitest';
import type { SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, claim, creating, header, heldBy, join } from './samples.ts';
import { connectionLost, keepOpen, watchPool } from './watched-pool.ts';

const { pool, newClosingPlace } = usePool();

const withEvents = (write: SessionWrite): SessionWrite => ({
  ...write,
  entries: (write.entries ?? []).map((entry) => ({ ...entry, events: '[]', lastSeq: entry.n })),
});

/** Reads what comes after a cursor, as a reader that never leaves would. */
function createFollower(store: SessionStore) {
  const seen: string[] = [];
  let after: string | undefined;
  return {
    seen,
    read: async (): Promise<void> => {
      for (;;) {
        const page = await store.feed.read({ limit: 3, ...(after !== undefined && { after }) });
        for (const each of page.entries) seen.push('entry' in each ? `${each.sessionId} ${each.entry.n}` : each.damage);
        after = page.cursor;
        if (!page.hasMore) return;
      }
    },
  };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the feed', () => {
  test('has a batch that commits late behind what was read meanwhile, and nobody waits for it (F1)', async () => {
    const place = newClosingPlace();
    const watched = watchPool(pool());
    const [slow, quick, reader] = [place.open({ pool: watched.pool }), place.open(), place.open()];
    await join(slow);
    await slow.log.write(withEvents(creating('a')));
    await quick.log.write(withEvents(creating('b')));
    const follower = createFollower(reader);
    await follower.read();
    watched.atNextCommit(async ({ run }) => {
      await quick.log.write(withEvents(adding('b', 2)));
      await follower.read();
      expect(follower.seen).toStrictEqual(['a 1', 'b 1', 'b 2']);
      return run();
    });
    await slow.log.write(withEvents(adding('a', 2)));
    await follower.read();
    expect(follower.seen).toStrictEqual(['a 1', 'b 1', 'b 2', 'a 2']);
  });

  test('has the late batch of a zombie before everything of the one that took over, or not at all', async () => {
    const place = newClosingPlace();
    const watched = watchPool(pool());
    const [zombie, next, reader] = [place.open({ pool: watched.pool }), place.open(), place.open()];
    await join(zombie);
    await zombie.log.write(withEvents(creating('a')));
    const follower = createFollower(reader);
    let taken: Promise<void> | undefined;
    const takeOver = async (): Promise<void> => {
      await next.leases.free({ worker: 'w', beats: 1 });
      await join(next, 'v');
      expect(await claim(next, 'v')).toStrictEqual(['a 3']);
      await next.log.write(withEvents({ ...adding('a', 3), lease: heldBy('v', 3) }));
      await follower.read();
    };
    watched.atNextCommit(async ({ run }) => {
      taken = takeOver();
      await wait(300);
      return run();
    });
    await zombie.log.write(withEvents(adding('a', 2)));
    await taken;
    await expect(zombie.log.write(withEvents(adding('a', 3)))).rejects.toMatchObject({ code: 'lease-lost' });
    await follower.read();
    expect(follower.seen).toStrictEqual(['a 1', 'a 2', 'a 3']);
  });

  test('goes on without a gap after a batch that was rolled back, and has it once when it is tried again', async () => {
    const place = newClosingPlace();
    const watched = watchPool(pool());
    const [store, reader] = [place.open({ pool: watched.pool }), place.open()];
    await join(store);
    await store.log.write(withEvents(creating('a')));
    const follower = createFollower(reader);
    await follower.read();
    let close = (): void => undefined;
    watched.atNextCommit(async ({ client }) => {
      close = keepOpen(client);
      throw connectionLost();
    });
    await store.log.write(withEvents(adding('a', 2)));
    close();
    await store.log.write(withEvents(adding('a', 3)));
    await follower.read();
    expect(follower.seen).toStrictEqual(['a 1', 'a 2', 'a 3']);
    const { rows } = await pool().query(`SELECT num::int AS num FROM ${place.schema}.feed WHERE n > 0 ORDER BY num`);
    expect(rows).toStrictEqual([{ num: 1 }, { num: 2 }, { num: 3 }]);
  });

  test('is read without a gap while several stores write and delete at once, in the same order by everybody', async () => {
    const place = newClosingPlace();
    const stores = [place.open(), place.open(), place.open(), place.open()];
    await join(place.open());
    const followers = [1, 2, 3].map(() => createFollower(place.open()));
    const over = new AbortController();
    const reading = followers.map(async (follower) => {
      while (!over.signal.aborted) await follower.read();
      await follower.read();
    });
    const written: string[] = [];
    await Promise.all(
      stores.map(async (store, index) => {
        for (let turn = 0; turn < 30; turn += 1) {
          const ids = [1, 2, 3].map((each) => `t${index}-${turn}-${each}`);
          await Promise.all(ids.map((id) => store.log.write(withEvents(creating(id)))));
          await store.log.write(withEvents(adding(ids[0] ?? '', 2)));
          written.push(...ids.map((id) => `${id} 1`), `${ids[0] ?? ''} 2`);
          const gone = `gone${index}-${turn}`;
          await store.log.write(withEvents(creating(gone)));
          await store.log.delete({ sessionId: gone, at: 1 });
        }
      }),
    );
    over.abort();
    await Promise.all(reading);
    const again = createFollower(place.open());
    await again.read();
    expect([...again.seen].sort()).toStrictEqual([...written].sort());
    for (const { seen } of followers) expect(seen.filter((each) => !each.startsWith('gone'))).toStrictEqual(again.seen);
    const left = await pool().query(
      `SELECT count(*)::int AS unfed, (SELECT count(*)::int FROM ${place.schema}.feed) AS fed FROM ${place.schema}.unfed`,
    );
    expect(left.rows).toStrictEqual([{ unfed: 0, fed: 480 }]);
  });

  test('that nobody has read for long is numbered part by part, and its end is behind all of them', async () => {
    const place = newClosingPlace();
    const store = place.open();
    await join(store);
    await store.log.write(withEvents(creating('a')));
    const add = (count: number): Promise<unknown> =>
      pool().query(
        `INSERT INTO ${place.schema}.unfed (session, n) SELECT 1000000, nextval('${place.schema}.session_num') FROM generate_series(1, ${count})`,
      );
    await add(25_000);
    expect(await store.feed.read({ limit: 20_000 })).toMatchObject({ cursor: 'f10000', hasMore: true });
    expect(await store.feed.read({ after: 'end' })).toMatchObject({ cursor: 'f25001', hasMore: false });
    await add(5);
    expect(await store.feed.read({ after: 'f25001' })).toMatchObject({ cursor: 'f25006', hasMore: false });
  });

  test('of one tenant is read by its name, whatever characters that has', async () => {
    const place = newClosingPlace();
    const store = place.open();
    await join(store);
    for (const tenant of [`it's`, String.raw`\' OR 1=1 --`, '$1 ? @x', '\0'])
      await store.log.write(withEvents({ ...creating(tenant), header: header(tenant, { tenant }) })).catch(() => undefined);
    for (const tenant of [`it's`, String.raw`\' OR 1=1 --`, '$1 ? @x']) {
      const { entries } = await store.feed.read({ tenant });
      expect(entries.map(({ sessionId }) => sessionId)).toStrictEqual([tenant]);
    }
    expect((await store.feed.read({ tenant: '\0' })).entries).toStrictEqual([]);
  });
});
