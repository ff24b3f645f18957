import type { SessionStore } from '../sessions/index.ts';
import { same } from './conformance.ts';
import type { StoreCheck } from './session-store-sample.ts';
import {
  assertRefused,
  toFreeLease,
  toHeldLease,
  newSession,
  nextEntry,
  sampleEffect,
  sampleEntry,
  sampleHeader,
  sampleMail,
} from './session-store-sample.ts';

const post = (store: SessionStore, sessionId: string, requestId = 'r'): Promise<unknown> =>
  store.inbox.post(sampleMail(requestId, { sessionId }));

/** Everything that a store can say about a session. */
const readAll = async (store: SessionStore, sessionId: string): Promise<unknown> => ({
  session: await store.log.load(sessionId),
  entries: await store.log.entries(sessionId),
  answer: await store.log.findRequest(sessionId, 'r'),
  effects: await store.log.effects(sessionId),
  head: await store.heads.read(sessionId),
  mail: await store.inbox.read({ sessionId }),
  listed: (await store.heads.list()).sessions.find(({ id }) => id === sessionId),
});

/** Promises of the log of a store about sessions that are deleted. */
export const deletionChecks: Readonly<Record<string, StoreCheck>> = {
  'removes everything of a deleted session': async ({ store, reopen, create, listIds }) => {
    const entries = [sampleEntry(1, { requestId: 'r' }), sampleEntry(2)];
    await create('s', { header: sampleHeader('s', { tags: ['a'], owner: 'o' }), entries, effects: [sampleEffect('a')] });
    await create('t', { header: sampleHeader('t', { tags: ['a'] }) });
    await post(store, 's', 'q');
    await post(store, 't');
    await store.heads.quarantine('s', 'damaged');
    await store.log.delete({ sessionId: 's', at: 5000 });
    for (const each of [store, await reopen()]) {
      const found = [
        await each.log.entries('s'),
        await each.log.findRequest('s', 'r'),
        await each.log.effects('s'),
        await each.log.effects('s', { prefix: 'a' }),
        await each.heads.read('s'),
      ];
      same(found, [[], undefined, undefined, undefined, undefined], 'what is left');
      same(
        (await each.inbox.read()).map(({ sessionId, requestId }) => sessionId + requestId),
        ['tr'],
        'mails',
      );
      same(
        await assertRefused(each.log.load('s'), 'session-deleted', 'loading it').then((error) => 'deletedAt' in error && error.deletedAt),
        5000,
        'time',
      );
    }
    same([await listIds(), await listIds({ tag: 'a' }), await listIds({ owner: 'o' })], [['t'], ['t'], []], 'sessions');
  },
  'never uses the id of a deleted session again': async ({ store, reopen, create, append, listIds }) => {
    await create('s');
    await store.log.delete({ sessionId: 's', at: 1000 });
    await store.log.delete({ sessionId: 'never', at: 1000 });
    await store.log.delete({ sessionId: 's', at: 2000 });
    const other = await reopen();
    for (const id of ['s', 'never']) {
      const uses: Readonly<Record<string, () => Promise<unknown>>> = {
        creating: () => create(id),
        writing: () => append(id, 2),
        rewriting: () => store.log.write(nextEntry(id, 2, { rewrites: [{ n: 1, body: '' }], entries: [] })),
        'writing to it with another fence': () => append(id, 2, { lease: toHeldLease(7) }),
        posting: () => post(other, id),
        loading: () => other.log.load(id),
      };
      for (const [name, use] of Object.entries(uses)) {
        const error = await assertRefused(use(), 'session-deleted', `${name} it`);
        same('deletedAt' in error && error.deletedAt, 1000, 'time of the first deletion');
      }
      await store.heads.quarantine(id, 'x');
    }
    same([await listIds(), await store.inbox.read()], [[], []], 'sessions and mails');
  },
  'leaves other sessions, and pages of them, as they are when one is deleted': async ({ store, create, append, listIds }) => {
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await create(id, { effects: [sampleEffect('x')], entries: [sampleEntry(1, { requestId: 'r' })] });
    await post(store, 'b', 'q');
    const before = await readAll(store, 'b');
    const first = await store.heads.list({ limit: 2 });
    for (const sessionId of ['c', 'd', 'e']) await store.log.delete({ sessionId, at: 1000 });
    same(await readAll(store, 'b'), before, 'another session');
    const second = await store.heads.list({ limit: 1, cursor: first.cursor ?? '' });
    const third = await store.heads.list({ limit: 1, cursor: second.cursor ?? '' });
    const ids = [second, third].map(({ sessions }) => sessions.map(({ id }) => id).join());
    same([ids, third.cursor], [['b', 'a'], undefined], 'pages after the first');
    await create('f');
    await append('b', 2);
    same(
      [await listIds(), await listIds({ limit: 1 })],
      [
        ['f', 'b', 'a'],
        ['f', 'b', 'a'],
      ],
      'sessions',
    );
    same(
      (await store.heads.list()).sessions.filter(({ damage }) => damage !== undefined),
      [],
      'damage',
    );
    same([(await store.log.load('f'))?.head, (await store.log.load('b'))?.head], [1, 2], 'heads');
  },
  'deletes what was asked for in the same moment': async ({ store, reopen, create, append, listIds }) => {
    await create('old');
    const deleteBoth = ['new', 'old'].map((sessionId) => ({ sessionId, at: 1000 }));
    const before = [create('new'), append('new', 2), append('old', 2), post(store, 'new'), post(store, 'old')];
    const deletions = deleteBoth.map((deletion) => store.log.delete(deletion));
    const late = ['new', 'old'].map((id) => assertRefused(post(store, id, 'late'), 'session-deleted', 'a mail behind the deletion'));
    const again = assertRefused(create('new'), 'session-deleted', 'creating it behind the deletion');
    await Promise.all([...before, ...deletions, ...late, again]);
    await create('next');
    const other = await reopen();
    same([await listIds(), await other.inbox.read(), (await other.log.load('next'))?.head], [['next'], [], 1], 'what is left');
    await assertRefused(other.log.load('new'), 'session-deleted', 'loading it');
  },
  'needs no lease to delete, and refuses the next write of the owner': async ({ store, reopen, create, append, join, claimIds }) => {
    const other = await reopen();
    await join('v');
    for (const id of ['s', 't', 'u']) await create(id);
    await other.log.delete({ sessionId: 's', at: 1000 });
    await assertRefused(append('s', 2), 'session-deleted', 'a write of the owner');
    await assertRefused(append('s', 2, { keepsLease: false }), 'session-deleted', 'a write of the owner that gives it up');
    const behind = [append('t', 2), store.log.delete({ sessionId: 't', at: 1000 })];
    await Promise.all([...behind, assertRefused(append('t', 3), 'session-deleted', 'a write of the owner in the same moment')]);
    const workers = (await store.leases.workers()).map(({ id, sessions }) => `${id} ${sessions}`);
    same([...workers].sort(), ['v 0', 'w 1'], 'sessions that workers own');
    await store.leases.leave('w');
    same(await claimIds('v'), 'u', 'claimed sessions');
    await assertRefused(store.log.write(newSession('s', { lease: toFreeLease(0, 'v') })), 'session-deleted', 'a session with its id');
  },
};
