// Reading the entries of all sessions, in the order in which they were committed.
// Owns:     which rows are read; all of them are checked.
// Does not: fill the feed: the database does, in the transaction that adds an entry.
// F1. One transaction at a time writes to a file, so the numbers of the feed are in the order of commits.
// F2. A page looks at a limited number of rows, however few of them fit: the event loop is not held up.
import type { FeedEntry, FeedPage, FeedQuery, StoredRow } from '../index.ts';
import { feedRowDamage, isFeedRowIntact, parseFeedQuery, toFeedCursor, toFeedEntry } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import { checks } from './tables.ts';

/** A row that a page looks at. */
interface Looked {
  readonly cursor: string;
  readonly row: StoredRow;
  readonly isDamaged: boolean;
}

type ReadSession = (num: number) => { readonly session: StoredRow | undefined; readonly head: StoredRow | undefined };

function createSessionReader(db: Connection): ReadSession {
  const known = new Map<number, ReturnType<ReadSession>>();
  return (num) => {
    const rows = known.get(num) ?? { session: db.get(sql.headerAt, num), head: db.get(sql.head, num) };
    known.set(num, rows);
    return rows;
  };
}

function readLooked(db: Connection, looked: readonly Looked[], tenant: string | undefined): readonly FeedEntry[] {
  const readSession = createSessionReader(db);
  return looked.flatMap(({ cursor, row, isDamaged }): readonly FeedEntry[] => {
    if (isDamaged) return tenant === undefined ? [{ cursor, damage: feedRowDamage }] : [];
    const [num, n] = [Number(row['session']), Number(row['n'])];
    const { session, head } = readSession(num);
    if (tenant !== undefined && session?.['tenant'] !== tenant) return [];
    const entry = toFeedEntry(checks, { cursor, n, session, head, entry: db.get(sql.entryAt, num, n) });
    return entry === undefined ? [] : [entry];
  });
}

/** Reads a page of the feed. */
export function readFeed(db: Connection, query: FeedQuery): FeedPage {
  const { place, tenant, limit } = parseFeedQuery(query);
  if (place.type === 'end') return { entries: [], cursor: toFeedCursor(Number(db.get(sql.feedEnd)?.['num'] ?? 0)), hasMore: false };
  const looked = db.all(sql.feedAfter, place.num, limit).map((row) => {
    return { cursor: toFeedCursor(Number(row['num'])), row, isDamaged: !isFeedRowIntact(row) };
  });
  const hasMore = looked.length === limit;
  return { entries: readLooked(db, looked, tenant), cursor: looked.at(-1)?.cursor ?? toFeedCursor(place.num), hasMore };
}
