// The order of commits on a real server: batches that get their numbers early and commit late, are rolled back, or are of another process.
import { describe, expect, test } from 'vitest';
import type { SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import { usePool } from './place.ts';
import { adding, claim, creating, heldBy, join } from './samples.ts';
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
  test('never skips a batch that got its numbers early and commits late, whichever store it is of (F1)', async () => {
    const place = newClosingPlace();
    const watched = watchPool(pool());
    const [slow, quick, reader] = [place.open({ pool: watched.pool }), place.open(), place.open()];
    await join(slow);
    await slow.log.write(withEvents(creating('a')));
    await quick.log.write(withEvents(creating('b')));
    const follower = createFollower(reader);
    await follower.read();
    let others: Promise<unknown> | undefined;
    let isDone = false;
    watched.atNextCommit(async ({ run }) => {
      // Its entries have their numbers. Whoever writes now must wait.
      others = quick.log.write(withEvents(adding('b', 2))).finally(() => (isDone = true));
      await wait(300);
      await follower.read();
      expect([isDone, follower.seen]).toStrictEqual([false, ['a 1', 'b 1']]);
      return run();
    });
    await slow.log.write(withEvents(adding('a', 2)));
    await others;
    await follower.read();
    expect(follower.seen).toStrictEqual(['a 1', 'b 1', 'a 2', 'b 2']);
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

  test('is read without a gap while several stores write at once, in the same order by everybody', async () => {
    const place = newClosingPlace();
    const stores = [place.open(), place.open(), place.open()];
    await join(place.open());
    const follower = createFollower(place.open());
    const over = new AbortController();
    const reading = (async () => {
      while (!over.signal.aborted) await follower.read();
      await follower.read();
    })();
    const written: string[] = [];
    await Promise.all(
      stores.map(async (store, index) => {
        for (let turn = 0; turn < 30; turn += 1) {
          const ids = [1, 2, 3].map((each) => `t${index}-${turn}-${each}`);
          await Promise.all(ids.map((id) => store.log.write(withEvents(creating(id)))));
          written.push(...ids.map((id) => `${id} 1`));
        }
      }),
    );
    over.abort();
    await reading;
    expect([...follower.seen].sort()).toStrictEqual([...written].sort());
    const again = createFollower(place.open());
    await again.read();
    expect(again.seen).toStrictEqual(follower.seen);
    const { rows } = await pool().query(`SELECT count(*)::int AS count, max(num)::int AS last FROM ${place.schema}.feed`);
    expect(rows).toStrictEqual([{ count: 270, last: 270 }]);
  });
});
