import type { FeedQuery, LogEntry, SessionStore, WriteReceipt } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';
import type { Stage, StoreCheck } from './session-store-sample.ts';
import { assertRefused, toFreeLease, newSession, nextEntry, sampleEntry, sampleHeader } from './session-store-sample.ts';

/** An entry with events. */
const fedEntry = (n: number): LogEntry => sampleEntry(n, { events: `["${n}"]`, lastSeq: n * 10 });

const createFed = ({ create }: Pick<Stage, 'create'>, id: string, tenant?: string): Promise<WriteReceipt> =>
  create(id, { header: sampleHeader(id, tenant === undefined ? {} : { tenant }), entries: [fedEntry(1)] });

const appendFed = ({ append }: Pick<Stage, 'append'>, id: string, n: number): Promise<WriteReceipt> =>
  append(id, n, { entries: [fedEntry(n)] });

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
    const { store } = stage;
    await createFed(stage, 'a');
    const { cursor } = await readFeed(store);
    const late = nextEntry('a', 8, { entries: [fedEntry(8)] });
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
  'feeds the writes of stores that take turns in their order': async ({ store, reopen, join }) => {
    const other = await reopen();
    let cursor: string | undefined;
    const seen: string[] = [];
    const read = async (reader: SessionStore): Promise<void> => {
      const found = await readFeed(reader, cursor === undefined ? {} : { after: cursor });
      seen.push(...found.places);
      ({ cursor } = found);
    };
    await join('v');
    await store.log.write(newSession('s', { keepsLease: false, entries: [fedEntry(1)] }));
    for (let n = 2; n < 8; n += 1) {
      const [writer, late, worker] = n % 2 === 0 ? [other, store, 'v'] : [store, other, 'w'];
      const write = nextEntry('s', n, { lease: toFreeLease(n - 1, worker), keepsLease: false, entries: [fedEntry(n)] });
      await writer.log.write(write);
      await assertRefused(late.log.write({ ...write, after: n, entries: [fedEntry(n + 1)] }), 'lease-lost', 'a late write');
      await read(late);
    }
    same(
      seen,
      [1, 2, 3, 4, 5, 6, 7].map((n) => `s ${n}`),
      'everything that was read, page after page',
    );
  },
  'feeds nothing of a deleted session, and uses no place again': async (stage) => {
    const { store } = stage;
    await createFed(stage, 'a');
    await createFed(stage, 'gone');
    await appendFed(stage, 'gone', 2);
    const { cursor } = await readFeed(store);
    await store.log.delete({ sessionId: 'gone', at: 1 });
    same(await listPlaces(store), ['a 1'], 'feed');
    await createFed(stage, 'b');
    await appendFed(stage, 'a', 2);
    same(await listPlaces(store, { after: cursor }), ['b 1', 'a 2'], 'feed after a cursor of the deleted session');
  },
  'feeds the new texts of an entry, and not a second time': async (stage) => {
    const { store } = stage;
    await createFed(stage, 'a');
    await appendFed(stage, 'a', 2);
    const { cursor } = await readFeed(store);
    await stage.write('a', 2, { rewrites: [{ n: 1, body: '"x"', events: '["erased"]' }] });
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
