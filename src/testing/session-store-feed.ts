import type { FeedQuery, LogEntry, SessionStore } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { assertRefused, newSession, nextEntry, sampleEntry, sampleHeader } from './session-store-sample.ts';

/** An entry with events. */
const fedEntry = (n: number): LogEntry => sampleEntry(n, { events: `["${n}"]`, lastSeq: n * 10 });

const createFed = ({ create }: Pick<Stage, 'create'>, id: string, tenant?: string): Promise<void> =>
  create(id, { header: sampleHeader(id, tenant === undefined ? {} : { tenant }), entries: [fedEntry(1)] });

const appendFed = ({ append }: Pick<Stage, 'append'>, id: string, n: number): Promise<void> => append(id, n, { entries: [fedEntry(n)] });

/** Reads the feed page by page to its end. Returns what it has, in order, and the place after it. */
async function readFeed(
  store: SessionStore,
  query: FeedQuery = {},
): Promise<{ readonly places: readonly string[]; readonly cursor: string }> {
  const places: string[] = [];
  let { after } = query;
  for (let pages = 1; ; pages += 1) {
    const page = await store.feed.read({ ...query, ...(after !== undefined && { after }) });
    for (const each of page.entries) places.push('entry' in each ? `${each.sessionId} ${each.entry.n}` : each.damage);
    after = page.cursor;
    if (!page.hasMore) return { places, cursor: after };
    holds(pages < 1000, `the feed does not end: it is at ${after}`);
  }
}

const listPlaces = async (store: SessionStore, query: FeedQuery = {}): Promise<readonly string[]> => (await readFeed(store, query)).places;

/** Promises of a store to those who read the entries of all sessions. */
export const feedChecks: Readonly<Record<string, StoreCheck>> = {
  'feeds entries of all sessions in the order in which they were written': async (stage) => {
    const { store, reopen } = stage;
    same(await listPlaces(store), [], 'feed of an empty store');
    await createFed(stage, 'b');
    await createFed(stage, 'a');
    await appendFed(stage, 'b', 2);
    await appendFed(stage, 'a', 2);
    await appendFed(stage, 'b', 3);
    const expected = ['b 1', 'a 1', 'b 2', 'a 2', 'b 3'];
    same(await listPlaces(store), expected, 'feed');
    same(await listPlaces(store, { limit: 2 }), expected, 'feed by pages of two');
    same(await listPlaces(await reopen()), expected, 'feed of another store');
  },
  'feeds each entry whole, with the last header of its session': async ({ store, create, write }) => {
    const entry = sampleEntry(1, { events: '["ä"]', lastSeq: 3, requestId: 'r', execution: 1, step: 2 });
    await create('s', { entries: [entry] });
    const header = sampleHeader('s', { tenant: 't', owner: 'o', tags: ['x'], details: '{"later":true}' });
    await write('s', 1, { header });
    const { entries } = await store.feed.read();
    const [fed] = entries.length > 0 ? entries : (await store.feed.read({ after: (await store.feed.read()).cursor })).entries;
    holds(fed !== undefined && 'entry' in fed, 'the entry is not in the feed');
    same({ sessionId: fed.sessionId, header: fed.header, entry: fed.entry }, { sessionId: 's', header, entry }, 'entry of the feed');
  },
  'feeds only entries that have events': async ({ store, create, append, ...stage }) => {
    await create('s');
    await append('s', 2);
    await appendFed({ ...stage, append }, 's', 3);
    await append('s', 4);
    same(await listPlaces(store), ['s 3'], 'feed');
  },
  'feeds what comes after a cursor, in any store on the place': async (stage) => {
    const { store, reopen } = stage;
    await createFed(stage, 'a');
    await createFed(stage, 'b');
    const first = await readFeed(store);
    same(await listPlaces(store, { after: first.cursor }), [], 'feed after its end');
    await appendFed(stage, 'a', 2);
    await createFed(stage, 'c');
    const other = await reopen();
    const second = await readFeed(other, { after: first.cursor });
    same(second.places, ['a 2', 'c 1'], 'feed after a cursor');
    const { entries } = await store.feed.read({ after: first.cursor });
    const [one] = entries;
    same(await listPlaces(other, { after: one?.cursor ?? '' }), ['c 1'], 'feed after the cursor of an entry');
    const at = await other.feed.read({ after: one?.cursor ?? '', isInclusive: true, limit: 1 });
    same(at.entries, [one], 'entry at a cursor');
    await appendFed(stage, 'b', 2);
    same(await listPlaces(store, { after: second.cursor }), ['b 2'], 'feed after the second cursor');
  },
  'feeds from the end on': async (stage) => {
    const { store } = stage;
    await createFed(stage, 'a');
    const { entries, cursor, hasMore } = await store.feed.read({ after: 'end' });
    same([entries, hasMore], [[], false], 'page at the end');
    await appendFed(stage, 'a', 2);
    same(await listPlaces(store, { after: cursor }), ['a 2'], 'feed after the end');
  },
  'feeds the sessions of one tenant': async (stage) => {
    const { store } = stage;
    await createFed(stage, 'a', 'one');
    await createFed(stage, 'b', 'other');
    await createFed(stage, 'c');
    await appendFed(stage, 'a', 2);
    await appendFed(stage, 'b', 2);
    same(await listPlaces(store, { tenant: 'one' }), ['a 1', 'a 2'], 'feed of a tenant');
    same(await listPlaces(store, { tenant: 'other', limit: 1 }), ['b 1', 'b 2'], 'feed of another tenant, by pages of one');
    same(await listPlaces(store, { tenant: 'none' }), [], 'feed of a tenant without sessions');
  },
  'feeds nothing of a write that is refused, and goes on after it': async (stage) => {
    const { store, epoch } = stage;
    await createFed(stage, 'a');
    const { cursor } = await readFeed(store);
    const late = { sessionId: 'a', epoch, after: 7, entries: [{ ...fedEntry(8) }] };
    const settled = await Promise.allSettled([
      store.log.write(late),
      appendFed(stage, 'a', 2),
      store.log.write(late),
      createFed(stage, 'b'),
    ]);
    same(
      settled.map(({ status }) => status),
      ['rejected', 'fulfilled', 'rejected', 'fulfilled'],
      'writes',
    );
    same([...(await listPlaces(store, { after: cursor }))].sort(), ['a 2', 'b 1'], 'feed');
  },
  'feeds writes of one moment without a gap, each session in its order': async (stage) => {
    const { store } = stage;
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const numbers = [2, 3, 4, 5, 6];
    await Promise.all(ids.flatMap((id) => [createFed(stage, id), ...numbers.map((n) => appendFed(stage, id, n))]));
    const places = await listPlaces(store, { limit: 7 });
    same(places.length, ids.length * 6, 'number of entries');
    for (const id of ids)
      same(
        places.filter((place) => place.startsWith(`${id} `)),
        [1, ...numbers].map((n) => `${id} ${n}`),
        `order of session ${id}`,
      );
  },
  'feeds the writes of stores that take turns in their order': async ({ store, reopen }) => {
    const other = await reopen();
    let cursor: string | undefined;
    const seen: string[] = [];
    const read = async (reader: SessionStore): Promise<void> => {
      const found = await readFeed(reader, cursor === undefined ? {} : { after: cursor });
      seen.push(...found.places);
      ({ cursor } = found);
    };
    const first = await store.claims.claim();
    await store.log.write({ ...newSession('s', first), entries: [fedEntry(1)] });
    for (let n = 2; n < 8; n += 2) {
      const [late, epoch] = [first, await other.claims.claim()];
      await other.log.write({ ...nextEntry('s', epoch, n), entries: [fedEntry(n)] });
      await assertRefused(store.log.write({ ...nextEntry('s', late, n + 1), entries: [fedEntry(n + 1)] }), 'store-fenced', 'a late write');
      await read(store);
      await store.log.write({ ...nextEntry('s', await store.claims.claim(), n + 1), entries: [fedEntry(n + 1)] });
      await read(other);
    }
    same(
      seen,
      [1, 2, 3, 4, 5, 6, 7].map((n) => `s ${n}`),
      'everything that was read, page after page',
    );
  },
  'feeds nothing of a deleted session, and uses no place again': async (stage) => {
    const { store, epoch } = stage;
    await createFed(stage, 'a');
    await createFed(stage, 'gone');
    await appendFed(stage, 'gone', 2);
    const { cursor } = await readFeed(store);
    await store.log.delete({ sessionId: 'gone', epoch, at: 1 });
    same(await listPlaces(store), ['a 1'], 'feed');
    await createFed(stage, 'b');
    await appendFed(stage, 'a', 2);
    same(await listPlaces(store, { after: cursor }), ['b 1', 'a 2'], 'feed after a cursor of the deleted session');
  },
  'feeds the new texts of an entry, and not a second time': async (stage) => {
    const { store, epoch } = stage;
    await createFed(stage, 'a');
    await appendFed(stage, 'a', 2);
    const { cursor } = await readFeed(store);
    await store.log.rewrite({ sessionId: 'a', epoch, after: 2, entries: [{ n: 1, body: '"x"', events: '["erased"]' }] });
    same(await listPlaces(store, { after: cursor }), [], 'feed after the rewrite');
    same(await listPlaces(store), ['a 1', 'a 2'], 'feed');
    const pages = [await store.feed.read(), await store.feed.read({ after: (await store.feed.read()).cursor })];
    const [fed] = pages.flatMap(({ entries }) => entries);
    holds(fed !== undefined && 'entry' in fed && fed.entry.events === '["erased"]', `the first entry is ${JSON.stringify(fed)}`);
  },
  'refuses a place in the feed that makes no sense': async ({ store }) => {
    for (const after of ['', 'x', 'f', 'f-1', 'p1', '12', 'f1.5'])
      await assertRefused(store.feed.read({ after }), 'invalid-argument', `the cursor "${after}"`);
    await assertRefused(store.feed.read({ limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
};

/** Promises of a store about the notes that processes share. */
export const noteChecks: Readonly<Record<string, StoreCheck>> = {
  'keeps a note, and counts the times that it was written': async ({ store, reopen }) => {
    same(await store.notes.read('n'), undefined, 'a note that is not there');
    same(await store.notes.write({ name: 'n', version: 0, body: 'ä "1"' }), true, 'a new note');
    const other = await reopen();
    same(await other.notes.read('n'), { name: 'n', version: 1, body: 'ä "1"' }, 'note');
    same(await other.notes.write({ name: 'n', version: 1, body: '' }), true, 'a note that is replaced');
    same(await store.notes.read('n'), { name: 'n', version: 2, body: '' }, 'note that was replaced');
  },
  'writes no note whose version is another': async ({ store, reopen }) => {
    const other = await reopen();
    const wrote = await Promise.all([store, other].map((each, index) => each.notes.write({ name: 'n', version: 0, body: `${index}` })));
    same(wrote.filter(Boolean).length, 1, 'writers of a new note that won');
    const before = await store.notes.read('n');
    for (const version of [0, 2])
      same(await store.notes.write({ name: 'n', version, body: 'late' }), false, `writing after version ${version}`);
    same(await store.notes.write({ name: 'n', version: 2 }), false, 'removing after version 2');
    same(await store.notes.write({ name: 'none', version: 1, body: 'x' }), false, 'replacing a note that is not there');
    same([await store.notes.read('n'), await store.notes.read('none')], [before, undefined], 'notes');
    const again = await Promise.all([store, other].map((each, index) => each.notes.write({ name: 'n', version: 1, body: `${index}` })));
    same(again.filter(Boolean).length, 1, 'writers of a new version that won');
  },
  'removes a note': async ({ store, reopen }) => {
    await store.notes.write({ name: 'n', version: 0, body: '1' });
    same(await store.notes.write({ name: 'n', version: 1 }), true, 'removing');
    same(await (await reopen()).notes.read('n'), undefined, 'note');
    same(await store.notes.write({ name: 'n', version: 0, body: '2' }), true, 'a note of the same name');
  },
  'lists notes by the start of their names': async ({ store }) => {
    for (const name of ['b/2', 'a/1', 'b/1', 'b', 'b/%', 'B/1', 'b/3']) await store.notes.write({ name, version: 0, body: name });
    const list = async (query: Parameters<SessionStore['notes']['list']>[0]): Promise<readonly string[]> =>
      (await store.notes.list(query)).map(({ body }) => body);
    same(await list({ prefix: 'b/' }), ['b/%', 'b/1', 'b/2', 'b/3'], 'notes');
    same(await list({ prefix: 'b/', limit: 2 }), ['b/%', 'b/1'], 'first page');
    same(await list({ prefix: 'b/', after: 'b/1', limit: 2 }), ['b/2', 'b/3'], 'second page');
    same(await list({ prefix: 'none' }), [], 'notes that are not there');
  },
  'removes the notes about a session with it, and takes no more of them': async ({ store, epoch, create, reopen }) => {
    await create('s');
    const other = await reopen();
    const about = (name: string, sessionId: string) => ({ name, version: 0, body: name, sessionId });
    for (const note of [about('n/1', 's'), about('n/2', 't'), { name: 'n/3', version: 0, body: 'n/3' }])
      same(await store.notes.write(note), true, `writing ${note.name}`);
    same(await other.notes.read('n/1'), { name: 'n/1', version: 1, body: 'n/1', sessionId: 's' }, 'a note about a session');
    same(await other.notes.write({ ...about('n/1', 's'), version: 1, body: 'new' }), true, 'replacing it');
    same(await other.notes.write({ ...about('n/1', 's'), version: 1 }), false, 'replacing it after an earlier version');
    const list = async (): Promise<string> => (await other.notes.list({ prefix: 'n/' })).map(({ body }) => body).join(' ');
    same(await list(), 'new n/2 n/3', 'notes');
    await store.log.delete({ sessionId: 's', epoch, at: 1000 });
    same(await list(), 'n/2 n/3', 'notes after the deletion');
    for (const each of [store, other]) await assertRefused(each.notes.write(about('n/1', 's')), 'session-deleted', 'a note about it');
    same(await store.notes.write({ name: 'n/2', version: 1, sessionId: 't' }), true, 'removing a note about another session');
    same(await list(), 'n/3', 'notes that are left');
  },
  'ties a note to a session that it did not name before': async ({ store, epoch, create, reopen }) => {
    await create('s');
    await store.notes.write({ name: 'n', version: 0, body: '1' });
    same(await store.notes.write({ name: 'n', version: 0, body: '2', sessionId: 's' }), false, 'a new note of the same name');
    same(await store.notes.write({ name: 'n', version: 1, body: '2', sessionId: 's' }), true, 'tying it');
    same(await (await reopen()).notes.list({ prefix: 'n' }), [{ name: 'n', version: 2, body: '2', sessionId: 's' }], 'notes');
    await store.log.delete({ sessionId: 's', epoch, at: 1000 });
    same(await store.notes.read('n'), undefined, 'the note after the deletion');
  },
  'refuses a note that makes no sense': async ({ store }) => {
    for (const version of [-1, 0.5, Number.NaN])
      await assertRefused(store.notes.write({ name: 'n', version, body: '' }), 'invalid-argument', `the version ${version}`);
    await assertRefused(store.notes.list({ prefix: '', limit: 0 }), 'invalid-argument', 'a limit of 0');
  },
};
