import { describe, expect, test } from 'vitest';
import type { FeedEntry, FeedPage, MemoryPlace, SessionStore } from '../sessions/index.ts';
import { createMemoryPlace } from '../sessions/index.ts';
import { feedChecks, noteChecks } from './session-store-feed.ts';
import { runCheck } from './session-store-sample.ts';

/** Opens a broken store on a place. */
type Breaking = (place: MemoryPlace) => SessionStore;

const withChange =
  (change: (whole: SessionStore) => Partial<SessionStore>): Breaking =>
  (place) => {
    const store = place.open();
    return { ...store, ...change(store) };
  };

const changePage = (change: (entries: readonly FeedEntry[]) => readonly FeedEntry[]): Breaking =>
  withChange((store) => ({
    feed: {
      ...store.feed,
      read: async (query): Promise<FeedPage> => {
        const page = await store.feed.read(query);
        return { ...page, entries: change(page.entries) };
      },
    },
  }));

/** Remembers its place by counting what is there. */
const countingPlaces = withChange((store) => ({
  feed: {
    ...store.feed,
    read: async ({ after = '0', limit = 200 } = {}) => {
      const all = (await store.feed.read({ limit: 1000 })).entries;
      const from = after === 'end' ? all.length : Number(after);
      const entries = all.slice(from, from + limit);
      return { entries, cursor: String(from + entries.length), hasMore: entries.length === limit };
    },
  },
}));

const bySession = changePage((entries) => [...entries].sort((one, other) => ((one.sessionId ?? '') < (other.sessionId ?? '') ? -1 : 1)));

/** Feeds an entry again when its texts are replaced. */
const feedingRewrites: Breaking = (place) => {
  const store = place.open();
  let rewritten = false;
  return {
    ...store,
    log: {
      ...store.log,
      rewrite: async (change) => {
        await store.log.rewrite(change);
        rewritten = true;
      },
    },
    feed: {
      ...store.feed,
      read: async (query) => {
        const page = await store.feed.read(query);
        if (!rewritten || query?.after === undefined) return page;
        return { ...page, entries: [...(await store.feed.read()).entries.slice(0, 1), ...page.entries] };
      },
    },
  };
};

const broken: Readonly<Record<string, Breaking>> = {
  'feeds entries of all sessions in the order in which they were written': bySession,
  'feeds each entry whole, with the last header of its session': changePage((entries) =>
    entries.map((each) => ('header' in each ? { ...each, header: { ...each.header, details: '{}' } } : each)),
  ),
  'feeds only entries that have events': changePage((entries) => entries.flatMap((each) => [each, each])),
  'feeds what comes after a cursor, in any store on the place': withChange((store) => ({
    feed: { ...store.feed, read: ({ isInclusive: _, ...query } = {}) => store.feed.read(query) },
  })),
  'feeds from the end on': withChange((store) => ({
    feed: {
      ...store.feed,
      read: ({ after, ...query } = {}) => store.feed.read(after === 'end' ? query : { ...query, ...(after !== undefined && { after }) }),
    },
  })),
  'feeds the sessions of one tenant': withChange((store) => ({
    feed: { ...store.feed, read: ({ tenant: _, ...query } = {}) => store.feed.read(query) },
  })),
  'feeds nothing of a write that is refused, and goes on after it': changePage((entries) => entries.slice(1)),
  'feeds writes of one moment without a gap, each session in its order': changePage((entries) => entries.toReversed()),
  'feeds the writes of stores that take turns in their order': changePage((entries) =>
    entries.filter((each) => !('entry' in each) || each.entry.n !== 4),
  ),
  'feeds nothing of a deleted session, and uses no place again': countingPlaces,
  'feeds the new texts of an entry, and not a second time': feedingRewrites,
  'refuses a place in the feed that makes no sense': withChange((store) => ({
    feed: { ...store.feed, read: ({ after: _, ...query } = {}) => store.feed.read(query) },
  })),
  'keeps a note, and counts the times that it was written': withChange((store) => ({
    notes: {
      ...store.notes,
      read: async (name) => {
        const note = await store.notes.read(name);
        return note && { ...note, version: 1 };
      },
    },
  })),
  'writes no note whose version is another': withChange((store) => ({
    notes: {
      ...store.notes,
      write: async (note) => store.notes.write({ ...note, version: (await store.notes.read(note.name))?.version ?? 0 }),
    },
  })),
  'removes a note': withChange((store) => ({
    notes: { ...store.notes, write: (note) => (note.body === undefined ? Promise.resolve(true) : store.notes.write(note)) },
  })),
  'lists notes by the start of their names': withChange((store) => ({
    notes: { ...store.notes, list: ({ after: _, ...query }) => store.notes.list(query) },
  })),
  // It keeps the note, and not what it is about.
  'removes the notes about a session with it, and takes no more of them': withChange((store) => ({
    notes: { ...store.notes, write: ({ sessionId: _, ...note }) => store.notes.write(note) },
  })),
  'ties a note to a session that it did not name before': withChange((store) => ({
    notes: {
      ...store.notes,
      write: async (note) =>
        ((await store.notes.read(note.name))?.sessionId === note.sessionId || note.version === 0) && store.notes.write(note),
    },
  })),
  'refuses a note that makes no sense': withChange((store) => ({
    notes: { ...store.notes, write: (note) => store.notes.write(note).catch(() => false) },
  })),
};

const checks = { ...feedChecks, ...noteChecks };

describe('the cases of the feed and of notes', () => {
  test('have a store that breaks each of them', () => {
    expect(Object.keys(broken)).toStrictEqual(Object.keys(checks));
  });

  test.each(Object.entries(broken))('"%s" fails where it is broken, and only there', async (name, breaking) => {
    const run = async (open: Breaking): Promise<boolean> => {
      const place = createMemoryPlace();
      const check = checks[name];
      if (check === undefined) throw new Error(`There is no case "${name}".`);
      return runCheck({ open: () => Promise.resolve(open(place)) }, check).then(
        () => false,
        () => true,
      );
    };
    expect([await run(breaking), await run((place) => place.open())]).toStrictEqual([true, false]);
  });
});
