import type { EntryQuery, LogEntry, SessionHeader, SessionQuery, SessionStore } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { assertRefused, sampleEffect, sampleEntry, sampleHeader } from './session-store-sample.ts';

const numbers = (entries: readonly LogEntry[] | undefined): readonly number[] => (entries ?? []).map(({ n }) => n);

async function checkEntries(store: SessionStore, cases: readonly (readonly [EntryQuery, string])[]): Promise<void> {
  for (const [query, expected] of cases)
    same(numbers(await store.log.entries('s', query)).join(''), expected, `entries for ${JSON.stringify(query)}`);
}

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

/** Promises of a store about reading. */
export const readChecks: Readonly<Record<string, StoreCheck>> = {
  'says that a session is not there': async ({ store }) => {
    const found = [await store.log.load('none'), await store.log.entries('none'), await store.log.findRequest('none', 'r')];
    same([...found, (await store.heads.list()).sessions], [undefined, [], undefined, []], 'what was found');
  },
  'loads a session from its last snapshot on': async ({ store, append, fill }) => {
    await fill('s', 3);
    same(numbers((await store.log.load('s'))?.entries), [1, 2, 3], 'entries');
    await append('s', 4, { entries: [sampleEntry(4, { isSnapshot: true }), sampleEntry(5)] });
    const session = await store.log.load('s');
    same([session?.head, numbers(session?.entries)], [5, [4, 5]], 'head and entries');
    same(numbers(await store.log.entries('s')), [1, 2, 3, 4, 5], 'entries, asked for by themselves');
  },
  'loads a session without a snapshot from the start': async ({ store, create }) => {
    await create('s', { entries: [sampleEntry(1, { isSnapshot: false }), sampleEntry(2)] });
    same(numbers((await store.log.load('s'))?.entries), [1, 2], 'entries');
  },
  'reads entries from one to another': async ({ store, fill }) => {
    await fill('s', 5);
    await checkEntries(store, [
      [{ from: 2, to: 4 }, '234'],
      [{ from: 4 }, '45'],
      [{ to: 2 }, '12'],
      [{ from: 4, to: 99 }, '45'],
      [{ from: 6 }, ''],
      [{ from: 3, to: 2 }, ''],
      [{ limit: 2 }, '12'],
      [{ from: 3, limit: 1 }, '3'],
    ]);
    await assertRefused(store.log.entries('s', { limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
  'reads entries with events after a number': async ({ store, create }) => {
    const entryWithEvents = (n: number, lastSeq: number): LogEntry => sampleEntry(n, { events: '[]', lastSeq });
    await create('s', { entries: [entryWithEvents(1, 3), sampleEntry(2), entryWithEvents(3, 7), sampleEntry(4), entryWithEvents(5, 9)] });
    await checkEntries(store, [
      [{ afterSeq: 0 }, '135'],
      [{ afterSeq: 3 }, '35'],
      [{ afterSeq: 6 }, '35'],
      [{ afterSeq: 9 }, ''],
      [{ afterSeq: 0, limit: 2 }, '13'],
      [{ afterSeq: 0, from: 2, to: 4 }, '3'],
    ]);
  },
  'finds the entry that answered a request': async ({ store, create }) => {
    const entry = sampleEntry(2, { requestId: 'r' });
    await create('s', { entries: [sampleEntry(1, { requestId: 'q' }), entry] });
    await create('other');
    same(await store.log.findRequest('s', 'r'), entry, 'entry');
    same([await store.log.findRequest('s', 'x'), await store.log.findRequest('other', 'r')], [undefined, undefined], 'other requests');
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
  'gives odd texts back as they were': async ({ store, create, listIds }) => {
    const odd = ['🦊 \u{1F468}\u200D\u{1F469}', `'"\\;--%_`, ' \t\n\r ', '', 'Ä O\u0308', '\u2028\uFEFFx', 'x'.repeat(1_000_000)];
    for (const [index, text] of odd.entries()) {
      const id = `${index}${text.slice(0, 100)}`;
      const short = text.slice(0, 100);
      const header = sampleHeader(id, { owner: short, tenant: short, tags: [short], details: JSON.stringify(text) });
      const entry = sampleEntry(1, { requestId: short, body: JSON.stringify(text), events: text });
      const effect = { ...sampleEffect(short), body: text };
      await create(id, { header, entries: [entry], effects: [effect] });
      same(await store.log.load(id), { header, head: 1, entries: [entry], effects: [effect] }, `session ${index}`);
      same(await store.log.findRequest(id, short), entry, `request ${index}`);
      same(await listIds({ tag: short, owner: short, tenant: short }), [id], `list ${index}`);
    }
  },
};
