// Reading the events of all sessions, and following them.
// Y1. Each item has a cursor. A reader that continues after it gets every later item once, whatever ended the reader before.
import { InvalidArgumentError } from '../../lib/index.ts';
import type { ParsedFeedOptions } from '../core/parse-input.ts';
import type { FeedItem } from '../core/feed.ts';
import type { FeedQuery } from '../store/session-store.ts';
import type { FedCommit, FeedReader } from './feed-reader.ts';

/** Services that following the feed needs. */
export interface FollowServices {
  readonly reader: FeedReader;
  /** Calls back when something may have been stored; returns its unsubscribe. */
  readonly follow: (call: () => void) => () => void;
  /** Aborted when the runtime ends. */
  readonly closing: AbortSignal;
}

const cursorText = /^(?<place>[a-z0-9.]+)(?:-(?<seq>\d{1,16}))?$/;

/** Reads a cursor: a place in the feed of the store, and, inside of a commit, the last event of it that was read. */
function parseCursor(cursor: string | undefined): { readonly query: FeedQuery; readonly seq?: number } {
  if (cursor === undefined) return { query: {} };
  const { place, seq } = cursorText.exec(cursor)?.groups ?? {};
  if (place === undefined)
    throw new InvalidArgumentError(`feed(): unknown cursor ${JSON.stringify(cursor)}. Pass the cursor of an item, unchanged, or "end".`);
  return seq === undefined ? { query: { after: place } } : { query: { after: place, isInclusive: true }, seq: Number(seq) };
}

const toItems = ({ cursor = '', events, lastSeq, ...origin }: FedCommit): readonly FeedItem[] =>
  events.map((event) => ({ cursor: event.seq === lastSeq ? cursor : `${cursor}-${event.seq}`, ...origin, event }));

/** Reads the feed after a cursor; then, if it is followed, what is stored later. */
export function followFeed(services: FollowServices, options: ParsedFeedOptions): AsyncIterable<FeedItem> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const { signal } = options;
      const ends = [services.closing, leaving.signal, ...(signal === undefined ? [] : [signal])];
      const items = readItems(services, options, ends);
      return {
        next: () => items.next(),
        // A reader that leaves while it waits is not kept waiting.
        return: () => {
          leaving.abort();
          return items.return();
        },
      };
    },
  };
}

async function* readItems(
  { reader, follow: followStore }: FollowServices,
  { after, tenant, types, follow, redact }: ParsedFeedOptions,
  ends: readonly AbortSignal[],
): AsyncGenerator<FeedItem, void, undefined> {
  const start = parseCursor(after);
  const filter = { redact, ...(types !== undefined && { types }) };
  const news = { hasMore: false, wake: (): void => undefined };
  const onMore = (): void => {
    news.hasMore = true;
    news.wake();
  };
  const unfollow = follow ? followStore(onMore) : (): void => undefined;
  for (const signal of ends) signal.addEventListener('abort', onMore);
  const hasEnded = (): boolean => ends.some(({ aborted }) => aborted);
  try {
    for (let query = start.query; !hasEnded();) {
      const page = await reader.readPage({ ...query, ...(tenant !== undefined && { tenant }) }, filter);
      for (const commit of page.commits) {
        const isStart = query.isInclusive === true && commit.cursor === query.after;
        for (const item of toItems(commit)) if (!isStart || item.event.seq > (start.seq ?? 0)) yield item;
      }
      query = { after: page.cursor };
      if (page.hasMore) continue;
      if (!follow || hasEnded()) return;
      // A call that came while nobody waited counts too.
      if (!news.hasMore) await new Promise<void>((resolve) => (news.wake = resolve));
      news.hasMore = false;
    }
  } finally {
    unfollow();
    for (const signal of ends) signal.removeEventListener('abort', onMore);
  }
}
