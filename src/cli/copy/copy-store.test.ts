import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/index.ts';
import type { LogEntry, MemoryPlace, SessionHeader, SessionStore, StoredSession } from '../../sessions/index.ts';
import { createMemoryPlace, putHold, readHolds } from '../../sessions/index.ts';
import { toExitCode } from '../failures.ts';
import type { CopyOptions } from './copy-store.ts';
import { copyStore } from './copy-store.ts';

const options: CopyOptions = {
  from: 'old.db',
  by: { id: 'kim', kind: 'staff' },
  force: false,
  clock: systemClock,
};

const createHeader = (id: string, at: number): SessionHeader => ({
  id,
  agentName: 'desk',
  agentRelease: ' f1',
  format: 1,
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

const createLease = (fence: number) => ({ lease: { worker: 'w', fence, type: 'free' }, keepsLease: false }) as const;

/** A place with sessions of 1, 450 and 3 entries, an open step, mails and a hold. No worker runs it. */
async function fill(): Promise<MemoryPlace> {
  const place = createMemoryPlace();
  const store = place.open();
  const sizes = { one: 1, long: 450, open: 3 };
  for (const [index, [sessionId, size]] of Object.entries(sizes).entries())
    await store.log.write({
      sessionId,
      ...createLease(0),
      after: 0,
      header: createHeader(sessionId, index * 100),
      entries: Array.from({ length: size }, (_, n) => createEntry(n + 1)),
      ...(sessionId === 'open' && { effects: [{ key: 'model/4', phase: 'intent' as const, body: '{}' }] }),
    });
  await store.inbox.post({ sessionId: 'one', requestId: 'm1', at: 1, body: '{"request":1}' });
  await store.log.write({ sessionId: 'one', ...createLease(1), after: 1, mail: { num: 1, reply: '{"code":"late-answer"}' } });
  await store.inbox.post({ sessionId: 'open', requestId: 'm2', at: 2, body: '{"request":2}' });
  await putHold(store.notes, { id: 'h', at: 3, reason: 'unpaid' });
  return place;
}

/** A session without the facts of who has run it. */
const toContent = ({ fence: _, ...stored }: StoredSession): object => stored;

/** Everything that a store has, to be compared. */
async function dump(store: SessionStore): Promise<unknown> {
  const { sessions } = await store.heads.list();
  const mail = await store.inbox.read();
  return {
    sessions: await Promise.all(
      sessions.map(async ({ id }) => ({
        stored: toContent((await store.log.load(id)) as StoredSession),
        entries: await store.log.entries(id),
      })),
    ),
    mail,
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
        return store.log.write(write);
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
    await store.log.write({ sessionId: 'mine', ...createLease(0), after: 0, header: createHeader('mine', 0), entries: [createEntry(1)] });
    const error: unknown = await copyStore(source.open(), target.open(), options).catch((caught: unknown) => caught);
    expect([toExitCode(error), (await target.open().heads.list()).sessions.length]).toStrictEqual([5, 1]);
    expect(await copyStore(source.open(), target.open(), { ...options, force: true })).toMatchObject({ sessions: 3, failed: [] });
    expect((await target.open().heads.list()).sessions).toHaveLength(4);
  });

  it('is refused into a store whose sessions a worker runs', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    await target.open().leases.join({ id: 'w', name: 'worker', joinedAt: 0, agents: ['desk'] }, { room: 1 });
    const error: unknown = await copyStore(source.open(), target.open(), { ...options, force: true }).catch((caught: unknown) => caught);
    expect([toExitCode(error), (await target.open().heads.list()).sessions.length]).toStrictEqual([5, 0]);
    expect(String(error)).toContain('"worker"');
  });

  it('has a session that a worker owns as it is at that moment, and the worker keeps it', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    const { leases, log } = source.open();
    await leases.join({ id: 'w', joinedAt: 0, agents: ['desk'] }, { room: 9 });
    const query = { worker: 'w', limit: 9, agents: [{ name: 'desk' }], maxFormat: 1, now: 0, sessionIds: ['open'] };
    const [claimed] = (await leases.claim(query)).sessions;
    expect(await copyStore(source.open(), target.open(), options)).toMatchObject({ sessions: 3, failed: [] });
    expect(await target.open().heads.read('open')).not.toHaveProperty('worker');
    const lease = { worker: 'w', fence: claimed?.fence ?? 0, type: 'held' } as const;
    await log.write({ sessionId: 'open', lease, keepsLease: true, after: 3, entries: [createEntry(4)] });
    expect((await target.open().log.load('open'))?.head).toBe(3);
  });

  it('has an action that was applied meanwhile either in the log or in the mailbox, never in none of them (S1)', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    const store = source.open();
    let isApplied = false;
    const load = async (id: string): Promise<StoredSession | undefined> => {
      const stored = await store.log.load(id);
      if (id === 'open' && !isApplied) {
        isApplied = true;
        const entry = { n: 4, at: 9, isSnapshot: false, requestId: 'm2', body: '{}' };
        await store.log.write({ sessionId: 'open', ...createLease(1), after: 3, entries: [entry], mail: { num: 1 } });
      }
      return stored;
    };
    expect(await copyStore({ ...store, log: { ...store.log, load } }, target.open(), options)).toMatchObject({ mail: 1, failed: [] });
    expect(await target.open().log.findRequest('open', 'm2')).toMatchObject({ n: 4 });
    expect(await dump(target.open())).toStrictEqual(await dump(source.open()));
  });

  it('that is repeated, because the source went on meanwhile, has that too', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    await copyStore(source.open(), target.open(), options);
    const entry = { n: 4, at: 9, isSnapshot: false, requestId: 'm2', body: '{}' };
    const effects = [{ key: 'model/5', phase: 'intent' as const, body: '{}' }];
    const task = { entries: [entry], clearsEffects: true, effects, mail: { num: 1 } };
    await source.open().log.write({ sessionId: 'open', ...createLease(1), after: 3, ...task });
    expect(await copyStore(source.open(), target.open(), { ...options, force: true })).toMatchObject({ sessions: 3, failed: [] });
    expect(await dump(target.open())).toStrictEqual(await dump(source.open()));
  });

  it('leaves no session to a worker of the target before all of its log is there (S2)', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    const store = target.open();
    const taken = new Set<number>();
    const write: SessionStore['log']['write'] = async (task) => {
      const receipt = await store.log.write(task);
      await store.leases.join({ id: 'w', joinedAt: 0, agents: ['desk'] }, { room: 9 });
      const query = { worker: 'w', limit: 9, agents: [{ name: 'desk' }], maxFormat: 1, now: 1e9 };
      for (const { head } of (await store.leases.claim(query)).sessions) taken.add(head);
      await store.leases.leave('w');
      return receipt;
    };
    await copyStore(source.open(), { ...store, log: { ...store.log, write } }, options);
    expect([...taken].sort((one, other) => one - other)).toStrictEqual([1, 3, 450]);
  });

  it('says which session differs', async () => {
    const [source, target] = [await fill(), createMemoryPlace()];
    await copyStore(source.open(), target.open(), options);
    const store = target.open();
    const { fence = 0 } = (await store.heads.read('long')) ?? {};
    await store.log.write({ sessionId: 'long', ...createLease(fence), after: 450, rewrites: [{ n: 321, body: '{"changed":true}' }] });
    const { failed } = await copyStore(source.open(), target.open(), { ...options, force: true });
    expect(failed).toStrictEqual([{ sessionId: 'long', reason: 'its entries 201 to 400 differ' }]);
  });
});
