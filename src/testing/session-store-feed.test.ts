import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { testSuite, withChange } from '../../tests/support/broken-stores.ts';
import type { FeedEntry, FeedPage } from '../sessions/index.ts';
import { feedChecks } from './session-store-feed.ts';

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
const feedingRewrites = withChange((store) => {
  let isRewritten = false;
  return {
    log: {
      ...store.log,
      write: async (write) => {
        isRewritten ||= write.rewrites !== undefined;
        return store.log.write(write);
      },
    },
    feed: {
      ...store.feed,
      read: async (query) => {
        const page = await store.feed.read(query);
        if (!isRewritten || query?.after === undefined) return page;
        return { ...page, entries: [...(await store.feed.read()).entries.slice(0, 1), ...page.entries] };
      },
    },
  };
});

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
};

describe('the cases of the feed', () => testSuite(feedChecks, broken));
