// Reading one session.
// Owns:     which rows are read, in one statement each, so that everything is of one moment; all of them are checked.
// Does not: repair anything.
import type { EffectQuery, EntryQuery, KnownSession, LogEntry, OpenEffects, SessionHead, StoredRow, StoredSession } from '../index.ts';
import { parseEffectQuery, parseRange, SessionDamagedError, SessionDeletedError, toHeadLease } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import type { Sql } from './sql.ts';
import { checks } from './tables.ts';

const most = Number.MAX_SAFE_INTEGER;

function readKnown(sessionId: string, found: StoredRow): KnownSession | undefined {
  const session = readRow(found['session']);
  if (session === undefined && found['isNamed'] !== true) return undefined;
  return checks.readKnown(sessionId, { session, head: readRow(found['head']) });
}

const toHead = ({ header, head, lease }: KnownSession): SessionHead => ({ header, head, ...toHeadLease(lease) });

/** Reads a session from its last snapshot on. */
export async function loadSession(query: Query, sql: Sql, sessionId: string): Promise<StoredSession | undefined> {
  const found = await queryJson(query, sql.load, [sessionId]);
  const session = readKnown(sessionId, found);
  const deletedAt = checks.findDeletion(sessionId, readRows(found['tombstones']));
  if (deletedAt !== undefined) throw new SessionDeletedError(sessionId, deletedAt);
  if (session === undefined) return undefined;
  const { header, head } = session;
  const tagDamage = checks.findTagDamage(header, readRows(found['tags']));
  if (tagDamage !== undefined) throw new SessionDamagedError(sessionId, tagDamage);
  const entries = checks.readEntries(session, readRows(found['entries']), { from: Number(found['from']), to: head });
  return { ...toHead(session), entries, effects: checks.readEffects(session, readRows(found['effects']), true) };
}

/** Reads entries of a session, in their order. */
export async function readEntries(
  query: Query,
  sql: Sql,
  { sessionId, ...asked }: EntryQuery & { readonly sessionId: string },
): Promise<readonly LogEntry[]> {
  const { from, to, limit } = parseRange(asked, most);
  const { afterSeq } = asked;
  if (from > to) return [];
  const readFrom = async (
    first: number,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly last: number; readonly head: number }> => {
    const last = Math.min(to, first + limit - 1);
    const found = await queryJson(query, sql.entries, [sessionId, first, last]);
    const session = readKnown(sessionId, found);
    if (session === undefined) return { entries: [], last, head: 0 };
    const range = { from: first, to: Math.min(last, session.head) };
    return { entries: checks.readEntries(session, readRows(found['entries']), range), last, head: session.head };
  };
  if (afterSeq === undefined) return (await readFrom(from)).entries;

  // Events are numbered along the log. So every entry after the last one that was seen has either later events or none.
  // That entry is read too, so that a damaged number of events in it is found.
  const start = await queryJson(query, sql.lastSeen, [sessionId, from, to, afterSeq]);
  if (readKnown(sessionId, start) === undefined) return [];
  const later: LogEntry[] = [];
  for (let next = Number(start['seen'] ?? from); next <= to && later.length < limit;) {
    const { entries, last, head } = await readFrom(next);
    later.push(...entries.filter(({ lastSeq }) => lastSeq !== undefined && lastSeq > afterSeq));
    if (last >= head) break;
    next = last + 1;
  }
  return later.slice(0, limit);
}

/** Finds the entry that answered a request. */
export async function findAnswer(
  query: Query,
  sql: Sql,
  { sessionId, requestId }: { readonly sessionId: string; readonly requestId: string },
): Promise<LogEntry | undefined> {
  const found = await queryJson(query, sql.request, [sessionId, requestId]);
  const row = readKnown(sessionId, found) && readRow(found['entry']);
  return row && checks.readEntry(sessionId, row);
}

/** Reads the head of a session. */
export async function readHead(query: Query, sql: Sql, sessionId: string): Promise<SessionHead | undefined> {
  const session = readKnown(sessionId, await queryJson(query, sql.head, [sessionId]));
  return session && toHead(session);
}

/** Reads rows of the open step. */
export async function readEffects(
  query: Query,
  sql: Sql,
  { sessionId, ...asked }: EffectQuery & { readonly sessionId: string },
): Promise<OpenEffects | undefined> {
  const { prefix, skip } = parseEffectQuery(asked);
  const found = await queryJson(query, sql.effects, [sessionId, prefix, skip]);
  const session = readKnown(sessionId, found);
  if (session === undefined) return undefined;
  const { header, head } = session;
  return { header, head, effects: checks.readEffects(session, readRows(found['effects']), prefix === '' && skip === 0) };
}
