// Reading the entries of all sessions, in the order in which they were committed.
// Owns:     which rows are read, in one statement, so that everything is of one moment; all of them are checked.
// Does not: fill the feed: the database does, in the transaction that adds an entry.
// F1. A batch takes its numbers from a counter that is locked until its commit. So a batch that commits later has higher numbers, whichever
//     process it is of, and numbers have no gap.
// F2. A page looks at a limited number of rows, however few of them fit.
import type { FeedEntry, FeedPage, FeedQuery, StoredRow } from '../index.ts';
import { feedRowDamage, isFeedRowIntact, parseFeedQuery, toFeedCursor, toFeedEntry } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import { checks, inSchema } from './tables.ts';

/** SQL that reads the rows of a page. `looked`: the rows of the feed that it looks at; `$1`: the tenant, or null for all. */
function pageText(schema: string, looked: string): string {
  const name = (table: Parameters<typeof inSchema>[1]): string => inSchema(schema, table);
  return `
    WITH looked AS (${looked})
    SELECT json_build_object('rows', (
      SELECT json_agg(json_build_object('fed', row_to_json(f), 'session', row_to_json(s), 'head', row_to_json(h), 'entry', row_to_json(l))
        ORDER BY f.num)
      FROM looked f
      LEFT JOIN ${name('sessions')} s ON s.num = f.session
      LEFT JOIN ${name('heads')} h ON h.session = f.session
      LEFT JOIN ${name('log')} l ON l.session = f.session AND l.n = f.n AND ($1::text IS NULL OR s.tenant = $1)
    ))::text AS found`;
}

const liveText = (schema: string): string =>
  pageText(
    schema,
    `SELECT num, session, n, sum FROM ${inSchema(schema, 'feed')}
      WHERE num > $2::bigint ORDER BY num LIMIT $3::bigint`,
  );

const getFed = (row: StoredRow): StoredRow => readRow(row['fed']) ?? {};

function toEntries(
  row: StoredRow,
  { cursor, tenant }: { readonly cursor: string; readonly tenant: string | undefined },
): readonly FeedEntry[] {
  const [session, head] = [readRow(row['session']), readRow(row['head'])];
  if (tenant !== undefined && session?.['tenant'] !== tenant) return [];
  const entry = toFeedEntry(checks, { cursor, n: Number(getFed(row)['n']), session, head, entry: readRow(row['entry']) });
  return entry === undefined ? [] : [entry];
}

/** Reads a page of the feed. */
export async function readFeed(query: Query, schema: string, asked: FeedQuery): Promise<FeedPage> {
  const { place, tenant, limit } = parseFeedQuery(asked);
  if (place.type === 'end') {
    const text = `SELECT json_build_object('num', (SELECT max(num) FROM ${inSchema(schema, 'feed')}))::text AS found`;
    return { entries: [], cursor: toFeedCursor(Number((await queryJson(query, text))['num'] ?? 0)), hasMore: false };
  }
  const rows = readRows((await queryJson(query, liveText(schema), [tenant ?? null, place.num, limit]))['rows']);
  const entries = rows.flatMap((row): readonly FeedEntry[] => {
    const cursor = toFeedCursor(Number(getFed(row)['num']));
    if (isFeedRowIntact(getFed(row))) return toEntries(row, { cursor, tenant });
    return tenant === undefined ? [{ cursor, damage: feedRowDamage }] : [];
  });
  const last = rows.at(-1);
  return { entries, cursor: toFeedCursor(last === undefined ? place.num : Number(getFed(last)['num'])), hasMore: rows.length === limit };
}
