import { sleep, systemClock } from '../lib/index.ts';
import type { Lease, SessionWrite } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import {
  assertRefused,
  findWorker,
  toFreeLease,
  toHeldLease,
  newSession,
  nextEntry,
  owned,
  sampleEffect,
  sampleEntry,
  sampleHeader,
  sampleWorker,
} from './session-store-sample.ts';

/** Every kind of write to a session with two entries and a mail. */
const kindsOfWrites: Readonly<Record<string, Partial<SessionWrite>>> = {
  'an entry': { entries: [sampleEntry(3)] },
  'a header': { header: sampleHeader('s', { owner: 'x' }) },
  'an effect': { effects: [sampleEffect('x')] },
  'clearing effects': { clearsEffects: true },
  'a new text': { rewrites: [{ n: 1, body: '""' }] },
  'applying a mail': { mail: { num: 1 } },
  'refusing a mail': { mail: { num: 1, reply: '""' } },
  'giving the session up': { keepsLease: false },
  // The lease is looked at first: whoever lost it has nothing to read again.
  'a conflict': { after: 7, entries: [sampleEntry(8)] },
};

/** Attempts at the open step of a session. */
const countAttempts = async ({ store }: Stage, sessionId = 's'): Promise<number | undefined> =>
  (await store.heads.read(sessionId))?.attempts;

/** A worker joins, claims session `s`, writes to it, and is taken for gone. */
async function loseWorker({ join, claim, write, freeWorker }: Stage, id: string, change: Partial<SessionWrite>): Promise<void> {
  await join(id);
  const { sessions } = await claim(id, { sessionIds: ['s'] });
  const [session] = sessions;
  holds(session !== undefined, `session "s" was not claimed for "${id}"`);
  await write('s', session.head, { lease: toHeldLease(session.fence, id), ...change });
  same(await freeWorker(id), 1, `sessions of "${id}" that were freed`);
}

/** Promises of the leases of a store about who owns a session. */
export const leaseChecks: Readonly<Record<string, StoreCheck>> = {
  'lets only the worker that owns a session write to it': async ({ store, reopen, fill, write, post, join, refuses }) => {
    await fill('s', 2);
    await write('s', 2, { effects: [sampleEffect('a')] });
    await post('r');
    await join('v');
    const other = await reopen();
    const leases: Readonly<Record<string, Lease>> = {
      'another worker': toHeldLease(1, 'v'),
      'another worker, as if nobody owned it': toFreeLease(1, 'v'),
      'its owner, as if nobody owned it': toFreeLease(1),
      'its owner with an earlier fence': toHeldLease(0),
      'its owner with a later fence': toHeldLease(2),
    };
    for (const [whose, lease] of Object.entries(leases))
      for (const [what, change] of Object.entries(kindsOfWrites)) {
        const late = { sessionId: 's', after: 2, keepsLease: true, ...change, lease };
        await refuses(() => other.log.write(late), 'lease-lost', `${what} of ${whose}`);
      }
    same(await other.heads.read('s'), { ...owned, header: sampleHeader('s'), head: 2, lastMail: 1 }, 'head');
    same((await store.inbox.read({ isWaiting: true })).length, 1, 'mails that wait');
    await other.log.write(nextEntry('s', 3));
    same((await store.log.load('s'))?.head, 3, 'head after a write of the owner');
  },
  'takes the lease with a write to a session that nobody owns': async ({ store, reopen, createFree, join, write }) => {
    await createFree('s', { isOpen: false });
    await createFree('t', { isOpen: false });
    await join('v');
    const other = await reopen();
    await other.log.write(nextEntry('s', 2, { lease: toFreeLease(1, 'v') }));
    const read = async (id: string) => {
      const head = await store.heads.read(id);
      return [head?.head, head?.fence, head?.worker];
    };
    same(await read('s'), [2, 2, 'v'], 'head, fence and worker');
    await assertRefused(write('s', 2, { lease: toFreeLease(1) }), 'lease-lost', 'a write as if nobody owned it');
    await other.log.write(nextEntry('s', 3, { lease: toHeldLease(2, 'v') }));
    await other.log.write(nextEntry('t', 2, { lease: toFreeLease(1, 'v'), keepsLease: false }));
    same(await read('t'), [2, 2, undefined], 'head, fence and worker after a write that gives the session up');
    await assertRefused(write('t', 2, { lease: toFreeLease(1) }), 'lease-lost', 'a write that does not know of it');
    await assertRefused(write('t', 2, { lease: toHeldLease(2) }), 'lease-lost', 'a write as if it owned it');
    const both = ['v', 'w'].map((worker, index) =>
      (index === 0 ? store : other).log.write(nextEntry('t', 3, { lease: toFreeLease(2, worker) })),
    );
    const settled = await Promise.allSettled(both);
    same(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'writes of two workers in the same moment');
    same((await read('t')).slice(0, 2), [3, 3], 'head and fence');
  },
  'lets workers in two stores take turns': async ({ store, reopen, createFree, join }) => {
    await createFree('s');
    const other = await reopen();
    await join('v');
    for (let n = 2; n < 8; n += 1) {
      const [writer, worker] = n % 2 === 0 ? [other, 'v'] : [store, 'w'];
      const entries = [sampleEntry(n)];
      const header = sampleHeader('s', { owner: worker });
      await writer.log.write({ sessionId: 's', lease: toFreeLease(n - 1, worker), keepsLease: true, after: n - 1, entries });
      await writer.log.write({ sessionId: 's', lease: toHeldLease(n, worker), keepsLease: false, after: n, header });
    }
    const session = await other.log.load('s');
    same([session?.head, session?.fence, session?.worker, session?.header.owner], [7, 7, undefined, 'w'], 'head, fence, worker and owner');
  },
  'refuses a write with an earlier fence, also after the same worker claimed again': async ({
    store,
    createFree,
    join,
    claim,
    refuses,
  }) => {
    await join('v');
    for (const order of ['late first', 'late last']) {
      const id = order === 'late first' ? 's' : 't';
      await createFree(id);
      const first = (await claim('v')).sessions[0]?.fence ?? 0;
      await store.leases.leave('v', [id]);
      const again = (await claim('v')).sessions[0]?.fence ?? 0;
      holds(first > 1 && again > first, `fences were 1, ${first}, ${again}`);
      const late = nextEntry(id, 2, { lease: toHeldLease(first, 'v'), header: sampleHeader(id, { owner: 'late' }) });
      const good = nextEntry(id, 2, { lease: toHeldLease(again, 'v') });
      await refuses(() => store.log.write(late), 'lease-lost', 'a write with the first fence');
      const writes = order === 'late first' ? [late, good] : [good, late];
      const settled = await Promise.allSettled(writes.map((write) => store.log.write(write)));
      const expected = ['rejected', 'fulfilled'];
      same(
        settled.map(({ status }) => status),
        order === 'late first' ? expected : [...expected].reverse(),
        `writes in the same moment, ${order}`,
      );
      const head = await store.heads.read(id);
      same([head?.head, head?.header.owner, (await store.log.entries(id)).length], [2, undefined, 2], 'head, owner and entries');
    }
  },
  'keeps no session for a worker that has not joined': async ({ store, create, createFree, listIds, refuses, freeWorker }) => {
    const lease = toFreeLease(0, 'nobody');
    await assertRefused(store.log.write(newSession('s', { lease })), 'lease-lost', 'a new session');
    same(await listIds(), [], 'sessions');
    await store.log.write(newSession('s', { lease, keepsLease: false }));
    same((await store.heads.read('s'))?.fence, 1, 'fence of a session that nobody keeps');
    await refuses(
      () => store.log.write(nextEntry('s', 2, { lease: toFreeLease(1, 'nobody') })),
      'lease-lost',
      'a write that keeps the session',
    );
    await store.log.write(nextEntry('s', 2, { lease: toFreeLease(1, 'nobody'), keepsLease: false }));
    await createFree('t');
    await create('u');
    await freeWorker('w');
    await assertRefused(store.log.write(nextEntry('t', 2, { lease: toFreeLease(1) })), 'lease-lost', 'a write of a worker that was freed');
    await assertRefused(store.log.write(nextEntry('u', 2)), 'lease-lost', 'a write to a session that it owned');
    same((await store.heads.read('t'))?.worker, undefined, 'worker');
  },
  'gives a session up at rest': async ({ store, create, write, join, claimIds }) => {
    await join('v');
    for (const id of ['s', 't']) await create(id);
    const header = sampleHeader('s', { isOpen: false, status: 'completed' });
    same(await write('s', 1, { keepsLease: false, header }), { hasMail: false }, 'receipt');
    same(await store.heads.read('s'), { header, head: 1, fence: 1, attempts: 0 }, 'head at rest');
    await assertRefused(write('s', 1, {}), 'lease-lost', 'a write of the last owner');
    same(await claimIds('v'), '', 'sessions that are claimed');
    await write('t', 1, { keepsLease: false });
    same(await claimIds('v'), 't', 'sessions that are claimed after an open one was given up');
  },
  'leaves a session ready if mail comes while it goes to rest': async ({ store, reopen, create, write, post, join, claim }) => {
    await join('v');
    const other = await reopen();
    const rest = (id: string) => write(id, 1, { keepsLease: false, header: sampleHeader(id, { isOpen: false }) });
    const claimAll = async () => (await claim('v')).sessions.map(({ sessionId, hasMail }) => `${sessionId} ${hasMail}`).sort();
    for (const id of ['before', 'after']) await create(id);
    await post('r', { sessionId: 'before' });
    same(await rest('before'), { hasMail: true }, 'receipt after a mail');
    await rest('after');
    await post('r', { sessionId: 'after' });
    same(await claimAll(), ['after true', 'before true'], 'claimed sessions');
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    await Promise.all(ids.map((id) => create(id)));
    const races = ids.map(async (id, index) => {
      const mail = { sessionId: id, requestId: 'r', at: 1, body: '""' };
      const works = [() => rest(id), () => (index % 4 < 2 ? store : other).inbox.post(mail)];
      await Promise.all((index % 2 === 0 ? works : works.reverse()).map((work) => work()));
    });
    await Promise.all(races);
    same(await claimAll(), ids.map((id) => `${id} true`).sort(), 'sessions claimed after rest and mail in the same moment');
  },
  'frees the sessions of a worker that is gone': async (stage) => {
    const { store, reopen, createFree, join, claim, claimIds, write, post } = stage;
    const other = await reopen();
    for (const id of ['s', 't']) await createFree(id);
    await join('v');
    await claim('v');
    await createFree('u');
    const { beats } = await findWorker(other, 'v');
    const freed = await Promise.all([store, other].map((each) => each.leases.free({ worker: 'v', beats })));
    same([...freed].sort(), [0, 2], 'sessions that were freed by two at once');
    for (const id of ['s', 't']) {
      const { fence, worker } = (await other.heads.read(id)) ?? { fence: 0 };
      same([fence, worker], [3, undefined], `fence and worker of session ${id}`);
      await assertRefused(write(id, 1, { lease: toHeldLease(2, 'v') }), 'lease-lost', 'a write of the worker that was freed');
    }
    same(await other.leases.beat('v', 5), false, 'a sign of life of the worker that was freed');
    same((await claim('v')).sessions, [], 'sessions that it claims');
    same(
      (await store.leases.workers()).map(({ id }) => id),
      ['w'],
      'workers',
    );
    await join('x');
    await post('r', { sessionId: 't' });
    same(await claimIds('x'), 's t u', 'sessions that another worker claims');
  },
  'does not free a worker that has given a sign of life since': async ({ store, reopen, createFree, join, claimIds, write }) => {
    const other = await reopen();
    await createFree('s');
    await join('v');
    same(await claimIds('v'), 's', 'claimed sessions');
    const { beats } = await findWorker(other, 'v');
    same(await store.leases.beat('v', 10), true, 'a sign of life');
    same(await other.leases.free({ worker: 'v', beats }), 0, 'sessions that were freed');
    same(await other.leases.free({ worker: 'none', beats: 1 }), 0, 'sessions of a worker that never joined');
    same(await other.leases.free(), 0, 'sessions of workers that are not known');
    await write('s', 1, { lease: toHeldLease(2, 'v') });
    same((await findWorker(other, 'v')).sessions, 1, 'sessions of the worker');
  },
  'counts an attempt only for sessions with an open step': async (stage) => {
    const { store, create, createFree, write, claim, join, freeWorker } = stage;
    for (const id of ['idle', 'stepping', 'stopped', 'still']) await createFree(id);
    await join('v');
    const fences = new Map((await claim('v')).sessions.map(({ sessionId, fence }) => [sessionId, fence]));
    const write2 = (id: string, change: Partial<SessionWrite>) => write(id, 1, { lease: toHeldLease(fences.get(id), 'v'), ...change });
    await write2('stepping', { isStepping: true });
    await write2('still', { isStepping: true });
    await write2('still', { effects: [sampleEffect('a')] });
    await write2('stopped', { isStepping: true });
    await write2('stopped', { isStepping: false });
    await create('s', { isStepping: true });
    same([await freeWorker('v'), await freeWorker('w')], [4, 1], 'sessions that were freed');
    const found: Record<string, number | undefined> = {};
    for (const id of ['idle', 'stepping', 'stopped', 'still', 's']) found[id] = await countAttempts(stage, id);
    same(found, { idle: 0, stepping: 1, stopped: 0, still: 1, s: 1 }, 'attempts');
    same((await store.log.load('still'))?.effects, [sampleEffect('a')], 'effects of the open step');
  },
  'counts attempts until the step is recorded': async (stage) => {
    const { createFree, claim, write, join, store } = stage;
    await createFree('s');
    const isStepping = true;
    await loseWorker(stage, 'a', { isStepping, effects: [sampleEffect('x')] });
    await loseWorker(stage, 'b', { isStepping });
    same(await countAttempts(stage), 2, 'attempts after two workers were lost');
    await loseWorker(stage, 'c', {});
    same(await countAttempts(stage), 2, 'attempts after a worker was lost that had not begun');
    await loseWorker(stage, 'd', { isStepping, clearsEffects: true });
    same(await countAttempts(stage), 1, 'attempts after a worker was lost in the next step');
    await join('e');
    const [session] = (await claim('e')).sessions;
    await write('s', 1, { lease: toHeldLease(session?.fence, 'e'), resetsAttempts: true });
    await store.leases.leave('e');
    same(await countAttempts(stage), 0, 'attempts after they were to start again');
  },
  'takes an attempt back if the worker that was taken for gone joins again': async (stage) => {
    const { createFree, join } = stage;
    await createFree('s');
    for (const id of ['a', 'b']) await loseWorker(stage, id, { isStepping: true });
    await join('b2', { before: 'b' });
    same(await countAttempts(stage), 1, 'attempts after the second worker came back');
    await join('b3', { before: 'b' });
    await join('x', { before: 'never' });
    same(await countAttempts(stage), 1, 'attempts after it came back again');
    await loseWorker(stage, 'c', { isStepping: true, resetsAttempts: true });
    await join('c2', { before: 'c' });
    same(await countAttempts(stage), 0, 'attempts after the third worker came back');
  },
  'counts nothing if a worker leaves': async (stage) => {
    const { store, reopen, createFree, join, claim, write } = stage;
    const other = await reopen();
    for (const id of ['s', 't']) await createFree(id);
    await join('v');
    const [one, two] = (await claim('v')).sessions;
    for (const claimed of [one, two])
      await write(claimed?.sessionId ?? '', 1, { lease: toHeldLease(claimed?.fence, 'v'), isStepping: true });
    await other.leases.leave('v', ['s', 'none']);
    const read = async (id: string) => {
      const head = await store.heads.read(id);
      return [head?.fence, head?.worker];
    };
    same(
      [await read('s'), await read('t')],
      [
        [3, undefined],
        [2, 'v'],
      ],
      'fences and workers after one session was left',
    );
    same(await store.leases.beat('v', 1), true, 'a sign of life of the worker that stays');
    await assertRefused(write('s', 1, { lease: toHeldLease(2, 'v') }), 'lease-lost', 'a write to the session that was left');
    await other.leases.leave('v');
    await other.leases.leave('v');
    same([await read('t'), await store.leases.beat('v', 1)], [[3, undefined], false], 'fence and worker after it left');
    same([await countAttempts(stage, 's'), await countAttempts(stage, 't')], [0, 0], 'attempts');
  },
  'shows who the workers are, and their signs of life': async ({ store, reopen, createFree, claim }) => {
    const other = await reopen();
    const info = {
      ...{ id: 'v', name: 'wörker "1"', joinedAt: 500.5, agents: ['agent', 'other'] },
      ...{ host: 'a', bootId: 'b', pidNamespace: 'n', pid: 7, startedAt: '12' },
    };
    await store.leases.join(info, { room: 3 });
    await createFree('s');
    await claim('v');
    const read = async () => {
      const { silentMs, isConnected: _, ...worker } = await findWorker(other, 'v');
      holds(silentMs >= 0, `it is silent for ${silentMs} ms`);
      return worker;
    };
    const first = await read();
    same(first, { ...info, room: 3, beats: first.beats, sessions: 1 }, 'worker');
    same(await store.leases.beat('v', 5), true, 'a sign of life');
    const second = await read();
    holds(second.beats > first.beats, `signs of life were ${first.beats}, and ${second.beats} after another one`);
    same(second.room, 5, 'room');
    const { isConnected: _, silentMs: __, ...w } = await findWorker(other, 'w');
    same(w, { ...sampleWorker('w'), room: 0, beats: w.beats, sessions: 0 }, 'another worker');
    same(
      (await other.leases.workers()).map(({ id }) => id),
      ['v', 'w'],
      'workers by when they joined',
    );
    same(await store.leases.beat('none', 5), false, 'a sign of life of a worker that never joined');
    same((await other.leases.workers()).length, 2, 'workers');
  },
  'measures how long a worker has been silent': async ({ store }) => {
    const longMs = 200;
    let { silentMs } = await findWorker(store, 'w');
    for (let asked = 1; silentMs < longMs; asked += 1) {
      holds(asked < 100, `it is silent for ${silentMs} ms after ${asked * longMs} ms`);
      await sleep(systemClock, longMs / 2);
      ({ silentMs } = await findWorker(store, 'w'));
    }
    const startedAt = systemClock.monotonic();
    await store.leases.beat('w', 0);
    ({ silentMs } = await findWorker(store, 'w'));
    const mostMs = systemClock.monotonic() - startedAt + longMs / 2;
    holds(silentMs <= mostMs, `it is silent for ${silentMs} ms, but gave a sign of life in the last ${mostMs} ms`);
  },
};
