import { sleep, systemClock } from '../lib/index.ts';
import type { ClaimQuery } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { toHeldLease, sampleHeader, toIds } from './session-store-sample.ts';

const numberedIds = (prefix: string, length: number): readonly string[] => Array.from({ length }, (_, index) => `${prefix}${index}`);

/** Makes a session ready that the worker `v` had last. */
async function readyAfter({ createFree, claim, store }: Stage, sessionId: string): Promise<void> {
  await createFree(sessionId);
  same(toIds(await claim('v', { sessionIds: [sessionId] })), sessionId, 'sessions that its later owner claims');
  await store.leases.leave('v', [sessionId]);
}

/** Promises of the leases of a store about claiming sessions. */
export const claimChecks: Readonly<Record<string, StoreCheck>> = {
  'claims sessions that are ready, up to a limit': async ({ store, createFree, create, post, join, claim }) => {
    await join('v');
    for (const id of ['a', 'b', 'c']) await createFree(id);
    await createFree('rest', { isOpen: false });
    await createFree('mail', { isOpen: false });
    await post('r', { sessionId: 'mail' });
    await create('owned');
    const first = (await claim('v', { limit: 2 })).sessions;
    const second = (await claim('v')).sessions;
    same([first.length, second.length, (await claim('v')).sessions.length], [2, 2, 0], 'number of claimed sessions');
    same((await claim('v', { limit: 0 })).sessions, [], 'sessions that are claimed with a limit of 0');
    const all = [...first, ...second].sort((one, other) => (one.sessionId < other.sessionId ? -1 : 1));
    same(
      all,
      ['a', 'b', 'c', 'mail'].map((sessionId) => ({ sessionId, fence: 2, head: 1, attempts: 0, hasMail: sessionId === 'mail' })),
      'claimed sessions',
    );
    for (const { sessionId } of all) same((await store.heads.read(sessionId))?.worker, 'v', `worker of session ${sessionId}`);
  },
  'gives each session to one of the workers that claim at once': async ({ store, reopen, createFree, join, claim }) => {
    const other = await reopen();
    const ids = numberedIds('s', 40);
    await Promise.all(ids.map((id) => createFree(id)));
    for (const id of ['u', 'v']) await join(id);
    const query: ClaimQuery = { worker: 'u', limit: 15, agents: [{ name: 'agent' }], maxFormat: 1, now: 1000 };
    const pages = await Promise.all([
      store.leases.claim(query),
      other.leases.claim({ ...query, worker: 'v' }),
      store.leases.claim({ ...query, worker: 'v' }),
      other.leases.claim(query),
    ]);
    pages.push(await claim('v'));
    same(pages.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId)).sort(), [...ids].sort(), 'claimed sessions');
    same(
      (await Promise.all(ids.map((id) => store.heads.read(id)))).filter((head) => head?.fence !== 2),
      [],
      'sessions that were claimed by other than one worker',
    );
  },
  'claims nothing for a worker that has not joined': async ({ createFree, join, claimIds, store }) => {
    await createFree('s');
    same(await claimIds('nobody'), '', 'sessions that it claims');
    await join('v');
    await store.leases.leave('v');
    same(await claimIds('v'), '', 'sessions that it claims after it left');
    same((await store.heads.read('s'))?.fence, 1, 'fence');
  },
  'claims sessions of the agents and releases of a worker': async ({ createFree, join, claimIds }) => {
    await join('v');
    await createFree('a1', { agentName: 'a', agentRelease: '1' });
    await createFree('a2', { agentName: 'a', agentRelease: '2' });
    await createFree('b1', { agentName: 'b', agentRelease: '1' });
    await createFree('c1', { agentName: 'c', agentRelease: '1' });
    same(await claimIds('v', { agents: [] }), '', 'sessions of no agent');
    same(await claimIds('v', { agents: [{ name: 'a', releases: [] }] }), '', 'sessions of no release');
    const agents = [{ name: 'a', releases: ['2', '3'] }, { name: 'b' }];
    same(await claimIds('v', { agents }), 'a2 b1', 'sessions of two agents');
    same(await claimIds('v', { agents: [{ name: 'a' }, { name: 'c', releases: ['2'] }] }), 'a1', 'sessions of other releases');
  },
  'claims sessions in formats that the worker can read': async ({ createFree, join, claimIds }) => {
    await join('v');
    await createFree('old');
    await createFree('new', { format: 2 });
    same(await claimIds('v', { maxFormat: 0 }), '', 'sessions in format 0');
    same(await claimIds('v', { maxFormat: 1 }), 'old', 'sessions in format 1');
    same(await claimIds('v', { maxFormat: 3 }), 'new', 'sessions in format 3');
  },
  'claims sessions that are to be woken, by the clock of the worker': async ({ store, createFree, join, claim, write }) => {
    await join('v');
    const header = { isOpen: false, wakeAt: 5000.5 };
    await createFree('s', header);
    await createFree('later', { ...header, wakeAt: 9000 });
    same(await claim('v', { now: 5000 }), { sessions: [], nextWakeAt: 5000.5 }, 'claim before any is to be woken');
    same(await claim('v', { now: 5000.5, limit: 0 }).then(toIds), '', 'sessions that are claimed without room');
    const woken = await claim('v', { now: 5000.5 });
    same([toIds(woken), woken.nextWakeAt], ['s', 9000], 'claim when one is to be woken');
    await write('s', 1, { lease: toHeldLease(2, 'v'), keepsLease: false, header: sampleHeader('s', { isOpen: false }) });
    same(await claim('v', { now: 8000 }), { sessions: [], nextWakeAt: 9000 }, 'claim after it went to rest');
    await store.leases.leave('v');
    await join('x');
    same(toIds(await claim('x', { now: 1e12 })), 'later', 'sessions that are claimed much later');
    same(await claim('x'), { sessions: [] }, 'claim when none is left');
  },
  'names the next time at which a session is to be woken that the worker could claim': async ({
    store,
    createFree,
    create,
    join,
    claim,
  }) => {
    await join('v');
    const sleeping = (wakeAt: number) => ({ isOpen: false, wakeAt });
    await createFree('other agent', { ...sleeping(2000), agentName: 'other' });
    await createFree('other release', { ...sleeping(2001), agentRelease: 'r2' });
    await createFree('other format', { ...sleeping(2002), format: 2 });
    await create('owned', { header: sampleHeader('owned', sleeping(2003)) });
    await createFree('damaged', sleeping(2004));
    await store.heads.quarantine('damaged', 'x');
    const agents = [{ name: 'agent', releases: ['r1'] }];
    same(await claim('v', { agents }), { sessions: [] }, 'claim when none can be claimed');
    await createFree('a', sleeping(4000));
    await createFree('b', sleeping(3000));
    same((await claim('v', { agents })).nextWakeAt, 3000, 'time of the next one');
    same((await claim('v', { agents, except: ['b'] })).nextWakeAt, 4000, 'time of the next one but one');
    same((await claim('v', { agents, now: 3500, limit: 0 })).nextWakeAt, 4000, 'time of the next one after those that wait for room');
    same((await claim('v')).nextWakeAt, 2001, 'time of the next one of any release');
  },
  'never claims a session in quarantine': async ({ store, createFree, join, claimIds }) => {
    await join('v');
    await createFree('s');
    await store.heads.quarantine('s', 'its state cannot be read');
    same(await claimIds('v'), '', 'claimed sessions');
    same(await claimIds('v', { sessionIds: ['s'] }), '', 'claimed sessions of those asked for');
    await store.heads.quarantine('s', undefined);
    same(await claimIds('v'), 's', 'claimed sessions after the note was taken away');
  },
  'claims only sessions that are asked for, and none that is excepted': async ({ createFree, join, claimIds }) => {
    await join('v');
    for (const id of ['a', 'b', 'c', 'd']) await createFree(id);
    await createFree('rest', { isOpen: false });
    same(await claimIds('v', { sessionIds: ['b', 'rest', 'none'] }), 'b', 'sessions that were asked for');
    same(await claimIds('v', { sessionIds: [] }), '', 'sessions when none is asked for');
    same(await claimIds('v', { sessionIds: ['a', 'c'], except: ['c'] }), 'a', 'sessions that were asked for, except one');
    same(await claimIds('v', { except: ['d', 'none'] }), 'c', 'all sessions except one');
    same(await claimIds('v'), 'd', 'what is left');
  },
  'claims sessions with urgent mail beyond the limit': async ({ store, createFree, post, join, claim, claimIds, write }) => {
    await join('v');
    for (const id of ['a', 'b', 'c', 'd', 'e']) await createFree(id);
    for (const sessionId of ['d', 'e']) await post('r', { sessionId, isUrgent: true });
    await post('q', { sessionId: 'e' });
    const first = (await claim('v', { limit: 1 })).sessions.map(({ sessionId }) => sessionId);
    same(first.filter((id) => id > 'c').sort(), ['d', 'e'], 'urgent sessions');
    holds(first.length <= 3, `with a limit of 1, ${first.join()} were claimed`);
    await store.leases.leave('v', first);
    same(await claimIds('v', { limit: 0 }), 'd e', 'sessions that are claimed without room');
    const { fence = 0 } = (await store.heads.read('e')) ?? {};
    const rest = { lease: toHeldLease(fence, 'v'), keepsLease: false };
    await write('e', 1, { ...rest, mail: { num: 1 }, lease: toHeldLease(fence, 'v'), keepsLease: true });
    await write('e', 1, { ...rest, mail: { num: 2 } });
    same(await claimIds('v', { limit: 0 }), '', 'sessions that are claimed without room after their mail was applied');
  },
  'gives each tenant its turn': async ({ createFree, join, claim }) => {
    await join('v');
    await Promise.all(numberedIds('many', 1000).map((id) => createFree(id, { tenant: 'many' })));
    await Promise.all(numberedIds('few', 100).map((id) => createFree(id, { tenant: 'few' })));
    await createFree('none');
    const { sessions } = await claim('v', { limit: 250 });
    const count = (prefix: string): number => sessions.filter(({ sessionId }) => sessionId.startsWith(prefix)).length;
    same([count('few'), count('none'), count('many')], [100, 1, 149], 'claimed sessions of the tenants with few, one and many');
  },
  'claims sessions with attempts last': async ({ store, createFree, join, claim, claimIds, write, freeWorker }) => {
    await join('u');
    await createFree('a', { tenant: 'x' });
    const [session] = (await claim('u')).sessions;
    await write('a', 1, { lease: toHeldLease(session?.fence, 'u'), isStepping: true });
    await freeWorker('u');
    for (const id of ['b', 'c']) await createFree(id, { tenant: 'y' });
    await join('v');
    same(await claimIds('v', { limit: 2 }), 'b c', 'sessions that are claimed first');
    same(
      (await claim('v')).sessions.map(({ sessionId, attempts }) => [sessionId, attempts]),
      [['a', 1]],
      'sessions that are claimed last',
    );
    same((await store.heads.read('a'))?.worker, 'v', 'worker');
  },
  'leaves a session for a while to the worker that had it last': async (stage) => {
    const { store, claimIds, join } = stage;
    for (const id of ['v', 'x']) await join(id);
    // A store that is slow once may find that the time is over.
    let isLeft = false;
    for (let tries = 1; tries <= 20 && !isLeft; tries += 1) {
      await readyAfter(stage, `s${tries}`);
      isLeft = (await claimIds('x')) === '';
      if (isLeft) same(await claimIds('v'), `s${tries}`, 'sessions that the worker claims that had it last');
    }
    holds(isLeft, 'another worker claimed each session at once');
    await readyAfter(stage, 'asked for');
    same(await claimIds('x', { sessionIds: ['asked for'] }), 'asked for', 'session that another worker asks for');
    await readyAfter(stage, 'waiting');
    let found = '';
    for (let asked = 1; found === ''; asked += 1) {
      holds(asked < 100, 'no other worker claims the session in the end');
      await sleep(systemClock, 50);
      found = await claimIds('x');
    }
    same(found, 'waiting', 'session that another worker claims in the end');
    await readyAfter(stage, 'without room');
    await store.leases.beat('v', 0);
    same(await claimIds('x'), 'without room', 'session of a worker without room');
    await store.leases.leave('v');
    await claimIds('x');
    await join('v');
    await readyAfter(stage, 'left');
    await store.leases.leave('v');
    same(await claimIds('x'), 'left', 'session of a worker that has left');
  },
};
