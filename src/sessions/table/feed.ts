// Reading the entries of all sessions, in the order in which they were committed.
// Owns:     which rows are read; all of them are checked.
// Does not: fill the feed: the database does, when an entry is added or before a page is read.
// F1. Nothing ever appears before a place that was read, and an entry comes after all that was committed when its batch began to write.
// F2. A page looks at a limited number of rows, however few of them fit: nobody is held up for long.
import type { FeedEntry, FeedPage, FeedQuery, StoredRow } from '../index.ts';
import { feedRowDamage, isFeedRowIntact, parseFeedQuery, toFeedCursor, toFeedEntry } from '../index.ts';
import type { Dialect } from './dialect.ts';
import { checks } from './rows.ts';
import type { TableWork } from './statement.ts';
import { ask, raw, sql } from './statement.ts';

/** The most rows of one page. */
export const mostInFeedPage = 10_000;

const byNumber = (rows: readonly StoredRow[], column: string): ReadonlyMap<unknown, StoredRow> =>
  new Map(rows.map((row) => [row[column], row]));

/** Reads a page of the feed. */
export function* readFeed({ numberFeed }: Dialect, query: FeedQuery): TableWork<FeedPage> {
  const { place, tenant, limit } = parseFeedQuery(query);
  const most = Math.min(limit, mostInFeedPage);
  if (place.type === 'end') {
    for (let more: unknown = numberFeed !== undefined; more === true;)
      more = (yield* ask({ numbered: raw(numberFeed ?? '') })).numbered[0]?.['more'];
    const { end } = yield* ask({ end: raw('SELECT max(num) AS num FROM @feed') });
    return { entries: [], cursor: toFeedCursor(Number(end[0]?.['num'] ?? 0)), hasMore: false };
  }
  const fits = tenant === undefined ? raw('') : sql` AND session IN (SELECT num FROM @sessions WHERE tenant = ${tenant})`;
  const { fed, sessions, heads, entries } = yield* ask(
    {
      fed: raw('SELECT * FROM page ORDER BY num'),
      sessions: raw('SELECT {sessions} FROM @sessions WHERE num IN (SELECT session FROM page)'),
      heads: raw('SELECT {heads} FROM @heads WHERE session IN (SELECT session FROM page)'),
      entries: sql`SELECT {log} FROM @log WHERE (session, n) IN (SELECT session, n FROM page)${fits}`,
    },
    sql`SELECT num, session, n, sum FROM @feed WHERE num > ${place.num} ORDER BY num LIMIT ${most}`,
    numberFeed,
  );
  const [sessionOf, headOf] = [byNumber(sessions, 'num'), byNumber(heads, 'session')];
  const entryOf = new Map(entries.map((row) => [`${String(row['session'])} ${String(row['n'])}`, row]));
  const found = fed.flatMap((row): FeedEntry | readonly FeedEntry[] => {
    const cursor = toFeedCursor(Number(row['num']));
    if (!isFeedRowIntact(row)) return tenant === undefined ? [{ cursor, damage: feedRowDamage }] : [];
    const [session, head] = [sessionOf.get(row['session']), headOf.get(row['session'])];
    if (tenant !== undefined && session?.['tenant'] !== tenant) return [];
    const stored = entryOf.get(`${String(row['session'])} ${String(row['n'])}`);
    return toFeedEntry(checks, { cursor, n: Number(row['n']), session, head, entry: stored }) ?? [];
  });
  return { entries: found, cursor: toFeedCursor(Number(fed.at(-1)?.['num'] ?? place.num)), hasMore: fed.length === most };
}
