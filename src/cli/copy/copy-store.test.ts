import { describe, expect, it } from 'vitest';
import { createCountingIds, systemClock } from '../../lib/index.ts';
import type { LogEntry, MemoryPlace, SessionHeader, SessionStore } from '../../sessions/index.ts';
import { createMemoryPlace, putHold, readHolds } from '../../sessions/index.ts';
import { toExitCode } from '../failures.ts';
import type { CopyOptions } from './copy-store.ts';
import { copyStore } from './copy-store.ts';

const options: CopyOptions = {
  from: 'old.db',
  by: { id: 'kim', kind: 'staff' },
  force: false,
  clock: systemClock,
  ids: createCountingIds(),
};

const createHeader = (id: string, at: number): SessionHeader => ({
  id,
  agentName: 'desk',
  tenant: 'acme',
  tags: ['a', 'b'],
  status: 'waiting',
  isOpen: true,
  wakeAt: at + 5,
  createdAt: at,
  updatedAt: at + 1,
  details: '{}',
});

const createEntry = (n: number): LogEntry => ({
  n,
  at: n,
  isSnapshot: n === 1,
  body: `{"n":${n}}`,
  ...(n % 2 === 0 && { events: `[${n}]`, lastSeq: n, requestId: `r${n}`, execution: 1, step: n }),
});

/** A place with sessions of 1, 450 and 3 entries, an open step, mails and a hold. Nobody holds it. */
async function fill(): Promise<MemoryPlace> {
  const place = createMemoryPlace();
  const store = place.open();
  const epoch = await store.claims.claim();
  const sizes = { one: 1, long: 450, open: 3 };
  for (const [index, [sessionId, size]] of Object.entries(sizes).entries())
    await store.log.write({
      sessionId,
      epoch,
      after: 0,
      header: createHeader(sessionId, index * 100),
      entries: Array.from({ length: size }, (_, n) => createEntry(n + 1)),
      ...(sessionId === 'open' && { effects: [{ key: 'model/4', phase: 'intent' as const, body: '{}' }] }),
    });
  const { num } = await store.inbox.post({ sessionId: 'one', requestId: 'm1', at: 1, body: '{"request":1}' });
  await store.inbox.answer({ epoch, num, reply: '{"code":"late-answer"}' });
  await store.inbox.post({ sessionId: 'open', requestId: 'm2', at: 2, body: '{"request":2}' });
  await putHold(store.notes, { id: 'h', at: 3, reason: 'unpaid' });
  await store.claims.release(epoch);
  return place;
}

/** Everything that a store has, to be compared. */
async function dump(store: SessionStore): Promise<unknown> {
  const { sessions } = await store.heads.list();
  const mail = await store.inbox.read();
  return {
    sessions: await Promise.all(
      sessions.map(async ({ id }) => ({ stored: await store.log.load(id), entries: await store.log.entries(id) })),
    ),
    mail: mail.map(({ num: _, ...rest }) => rest),
    holds: await readHolds(store.notes),
  };
}

/** A store whose writes fail after a number of them. */
function failAfter(store: SessionStore, writes: number): SessionStore {
  let left = writes;
  return {
    ...store,
    log: {
      ...store.log,
      write: async (write) => {
        left -= 1;
        if (left < 0) throw Object.assign(new Error('the cable was pulled'), { code: 'store-unavailable' });
        await store.log.write(write);
      },
    },
  };
}

describe('a copy of a store', () => {
  it('has every session, effect, mail and hold, in the same order', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    const report = await copyStore(source.open(), target.open(), options);
    expect(report).toStrictEqual({ sessions: 3, entries: 454, effects: 1, mail: 2, holds: 1, failed: [] });
    expect(await dump(target.open())).toStrictEqual(await dump(source.open()));
  });

  it('is held while it is not complete, and continues when it is repeated (Q2, Q3)', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    for (let writes = 0; writes < 5; writes += 1) {
      const broken = copyStore(source.open(), failAfter(target.open(), 1), options);
      await broken.catch(() => undefined);
      const { sessions } = await target.open().heads.list();
      if (sessions.length < 3) expect(await readHolds(target.open().notes)).toMatchObject([{ id: 'stepline-copy' }]);
    }
    expect(await copyStore(source.open(), target.open(), options)).toMatchObject({ sessions: 3, failed: [] });
    expect(await dump(target.open())).toStrictEqual(await dump(source.open()));
  });

  it('is refused into a store that has sessions of something else, unless forced', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    const store = target.open();
    const epoch = await store.claims.claim();
    await store.log.write({ sessionId: 'mine', epoch, after: 0, header: createHeader('mine', 0), entries: [createEntry(1)] });
    await store.claims.release(epoch);
    const error: unknown = await copyStore(source.open(), target.open(), options).catch((caught: unknown) => caught);
    expect([toExitCode(error), (await target.open().heads.list()).sessions.length]).toStrictEqual([5, 1]);
    expect(await copyStore(source.open(), target.open(), { ...options, force: true })).toMatchObject({ sessions: 3, failed: [] });
    expect((await target.open().heads.list()).sessions).toHaveLength(4);
  });

  it('is refused from a store that a live process holds, unless forced', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    const store = source.open();
    const epoch = await store.claims.claim({ holder: { id: 'w', name: 'worker', claimedAt: 0 } });
    const beating = setInterval(() => void store.claims.beat(epoch), 20);
    try {
      const error: unknown = await copyStore(source.open(), target.open(), options).catch((caught: unknown) => caught);
      expect(toExitCode(error)).toBe(5);
      expect(String(error)).toContain('"worker"');
      expect(await copyStore(source.open(), target.open(), { ...options, force: true })).toMatchObject({ sessions: 3, failed: [] });
      await store.claims.beat(epoch);
    } finally {
      clearInterval(beating);
    }
  });

  it('leaves both stores to the next worker', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    await copyStore(source.open(), target.open(), options);
    for (const place of [source, target]) expect(await place.open().claims.read()).not.toHaveProperty('holder');
  });

  it('says which session differs', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    await copyStore(source.open(), target.open(), options);
    const store = target.open();
    const epoch = await store.claims.claim();
    await store.log.rewrite({ sessionId: 'long', epoch, after: 450, entries: [{ n: 321, body: '{"changed":true}' }] });
    await store.claims.release(epoch);
    const { failed } = await copyStore(source.open(), target.open(), { ...options, force: true });
    expect(failed).toStrictEqual([{ sessionId: 'long', reason: 'its entries 201 to 400 differ' }]);
  });
});
