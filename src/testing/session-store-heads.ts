import type { SessionHeader, SessionQuery } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { assertRefused, toHeldLease, owned, sampleEntry, sampleHeader } from './session-store-sample.ts';

/** Creates sessions that differ by their headers, in this order. */
async function createAll(create: Stage['create'], headers: Readonly<Record<string, Partial<SessionHeader>>>): Promise<void> {
  let createdAt = 1000;
  for (const [id, header] of Object.entries(headers)) {
    createdAt += 1;
    await create(id, { header: sampleHeader(id, { createdAt, ...header }) });
  }
}

/** Damage of each session, newest first, as another store lists it. */
async function listDamage(reopen: Stage['reopen']): Promise<readonly string[]> {
  const { sessions } = await (await reopen()).heads.list();
  return sessions.map(({ id, damage }) => (damage === undefined ? id : `${id}: ${damage}`));
}

const kinds: Readonly<Record<string, Partial<SessionHeader>>> = {
  a: { tenant: 't1', owner: 'ann', agentName: 'x', tags: ['red'], wakeAt: 10, updatedAt: 999 },
  b: { tenant: 't1', owner: 'bob', agentName: 'y', tags: ['red', 'blue'], status: 'waiting', isOpen: false, wakeAt: 20 },
  c: { tenant: 't2', owner: 'ann', agentName: 'y', tags: ['blue'], status: 'failed', stopReason: 'error', isOpen: false },
  d: { agentName: 'x', status: 'stopped', stopReason: 'guard', isOpen: false },
};

const questions: readonly (readonly [SessionQuery, string])[] = [
  [{}, 'dcba'],
  [{ tenant: 't1' }, 'ba'],
  [{ tenant: 'T1' }, ''],
  [{ agentName: 'y' }, 'cb'],
  [{ owner: 'ann' }, 'ca'],
  [{ status: 'waiting' }, 'b'],
  [{ stopReason: 'error' }, 'c'],
  [{ tag: 'red' }, 'ba'],
  [{ tag: 're' }, ''],
  [{ isOpen: true }, 'a'],
  [{ isOpen: false }, 'dcb'],
  [{ wakeBefore: 9 }, ''],
  [{ wakeBefore: 10 }, 'a'],
  [{ wakeBefore: 99 }, 'ba'],
  [{ updatedBefore: 999 }, ''],
  [{ updatedBefore: 1000 }, 'a'],
  [{ updatedBefore: 1000.5, tenant: 't1' }, 'ba'],
  [{ tenant: 't1', tag: 'blue' }, 'b'],
  [{ owner: 'ann', agentName: 'y' }, 'c'],
  [{ tenant: 't2', owner: 'bob' }, ''],
  [{ isOpen: false, wakeBefore: 99, status: 'waiting', tag: 'red', tenant: 't1', owner: 'bob', agentName: 'y' }, 'b'],
];

/** Promises of the heads of a store. */
export const headChecks: Readonly<Record<string, StoreCheck>> = {
  'reads the head of a session, and who owns it': async ({ store, reopen, create, write }) => {
    const other = await reopen();
    same([await store.heads.read('s'), (await store.heads.list()).sessions], [undefined, []], 'what there is of no session');
    await create('s', { entries: [sampleEntry(1), sampleEntry(2)] });
    same(await other.heads.read('s'), { ...owned, header: sampleHeader('s'), head: 2 }, 'head');
    const header = sampleHeader('s', { tenant: 't', isOpen: false });
    await write('s', 2, { header, keepsLease: false, lease: toHeldLease() });
    same(await other.heads.read('s'), { header, head: 2, fence: 1, attempts: 0 }, 'head at rest');
  },
  'lists sessions by what they are found by': async ({ store, create, listIds }) => {
    await createAll(create, kinds);
    for (const [query, expected] of questions) {
      same((await listIds(query)).join(''), expected, `sessions for ${JSON.stringify(query)}`);
    }
    const { sessions } = await store.heads.list({ owner: 'bob' });
    same(sessions, [{ id: 'b', header: sampleHeader('b', { createdAt: 1002, ...kinds['b'] }) }], 'what is listed');
  },
  'lists by the last header only': async ({ create, write, listIds }) => {
    await createAll(create, { a: { status: 'in_progress', owner: 'ann', wakeAt: 5 } });
    await write('a', 1, { header: sampleHeader('a', { status: 'completed', isOpen: false }) });
    const before: readonly SessionQuery[] = [{ status: 'in_progress' }, { owner: 'ann' }, { wakeBefore: 9 }, { isOpen: true }];
    for (const query of before) same(await listIds(query), [], `sessions for ${JSON.stringify(query)}`);
    same(await listIds({ status: 'completed', isOpen: false }), ['a'], 'completed sessions');
  },
  'replaces the tags that a session is found by': async ({ create, write, listIds }) => {
    await create('s', { header: sampleHeader('s', { tags: ['a', 'b', 'b'] }) });
    await write('s', 1, { header: sampleHeader('s', { tags: ['b', 'c'] }) });
    const found = await Promise.all(['a', 'b', 'c'].map(async (tag) => (await listIds({ tag })).length));
    same(found, [0, 1, 1], 'sessions found by the tags a, b, c');
  },
  'lists 100 at most unless told otherwise': async ({ store, create }) => {
    const ids = Array.from({ length: 101 }, (_, index) => `s${index}`);
    await Promise.all(ids.map((id) => create(id)));
    const { sessions, cursor } = await store.heads.list();
    holds(sessions.length === 100 && cursor !== undefined, `${sessions.length} sessions were listed`);
    same((await store.heads.list({ limit: 101 })).cursor, undefined, 'cursor where there is no more');
  },
  'pages stay as they are while sessions are written': async ({ store, create, write }) => {
    await createAll(create, { a: {}, b: {}, c: {}, d: {}, e: {} });
    const first = await store.heads.list({ limit: 2 });
    await createAll(create, { f: {} });
    await write('a', 1, { header: sampleHeader('a', { createdAt: 1001, updatedAt: 9999 }) });
    const second = await store.heads.list({ limit: 2, cursor: first.cursor ?? '' });
    const third = await store.heads.list({ limit: 2, cursor: second.cursor ?? '' });
    const ids = [first, second, third].map(({ sessions }) => sessions.map(({ id }) => id).join(''));
    same([ids, third.cursor], [['ed', 'cb', 'a'], undefined], 'pages');
  },
  'pages through what fits': async ({ create, listIds }) => {
    const headerOwnedBy = (owner: string): Partial<SessionHeader> => ({ owner, tags: ['x'] });
    await createAll(create, {
      a: headerOwnedBy('o'),
      b: headerOwnedBy('p'),
      c: headerOwnedBy('o'),
      d: headerOwnedBy('p'),
      e: headerOwnedBy('o'),
    });
    for (const limit of [1, 2, 3, 4]) {
      same(await listIds({ owner: 'o', tag: 'x', limit }), ['e', 'c', 'a'], `pages of ${limit}`);
    }
  },
  'refuses a page that makes no sense': async ({ store }) => {
    await assertRefused(store.heads.list({ limit: 0 }), 'invalid-argument', 'a limit of 0');
    await assertRefused(store.heads.list({ limit: 1.5 }), 'invalid-argument', 'a limit of 1.5');
    await assertRefused(store.heads.list({ cursor: 'made up' }), 'invalid-argument', 'a cursor that no page gave');
  },
  'lists a session in quarantine with its damage, and changes nothing of it': async ({ store, reopen, create, listIds }) => {
    await createAll(create, { a: { owner: 'o' }, b: {} });
    const before = await store.log.load('a');
    await store.heads.quarantine('a', 'its state cannot be read');
    await store.heads.quarantine('a', 'a later thought');
    await store.heads.quarantine('c', 'not there yet');
    await createAll(create, { c: {} });
    same(await store.log.load('a'), before, 'session');
    same(await listDamage(reopen), ['c', 'b', 'a: its state cannot be read'], 'list');
    same(await listIds({ owner: 'o' }), ['a'], 'sessions by owner');
  },
  'takes the note of a damage away again': async ({ store, reopen, create }) => {
    await createAll(create, { a: {}, b: {} });
    await store.heads.quarantine('a', 'its state cannot be read');
    await store.heads.quarantine('b', 'nor can its');
    await store.heads.quarantine('a', undefined);
    await store.heads.quarantine('c', undefined);
    same(await listDamage(reopen), ['b: nor can its', 'a'], 'list');
  },
};
