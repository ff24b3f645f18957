// Reading one session.
// Owns:     which rows are read; all of them are checked.
// Does not: repair anything.
import type { EffectQuery, EntryQuery, KnownSession, LogEntry, OpenEffects, SessionHead, SessionHeader, StoredSession } from '../index.ts';
import { parseEffectQuery, parseRange, SessionDamagedError, SessionDeletedError, toHeadLease } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import { checks } from './tables.ts';

/** Finds the header and head of a session. Throws if either is damaged or missing. */
export function findSession(db: Connection, sessionId: string): KnownSession | undefined {
  const row = db.get(sql.session, sessionId);
  if (row === undefined && db.get(sql.firstEntryOf, sessionId) === undefined) return undefined;
  return checks.readKnown(sessionId, { session: row, head: row && db.get(sql.head, Number(row['num'])) });
}

/** Returns when a session was deleted. */
export function findDeletion(db: Connection, sessionId: string): number | undefined {
  const id = checks.toTombstoneId(sessionId);
  return checks.findDeletion(sessionId, db.all(sql.tombstones, id, id));
}

/** Describes the damage to the rows that a session is found with by its tags; undefined if there is none. */
export const findTagDamage = (db: Connection, num: number, header: SessionHeader): string | undefined =>
  checks.findTagDamage(header, db.all(sql.tags, num));

interface Range {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

function readIntactEntries(db: Connection, session: KnownSession, { from, to, limit }: Range): readonly LogEntry[] {
  const last = Math.min(to, from + limit - 1);
  return checks.readEntries(session, db.all(sql.entries, session.num, from, last, limit), { from, to: last });
}

/** Reads one entry. Throws if it is damaged or missing. */
export function findEntry(db: Connection, session: KnownSession, n: number): LogEntry {
  const [entry] = readIntactEntries(db, session, { from: n, to: n, limit: 1 });
  if (entry === undefined) throw new SessionDamagedError(session.header.id, `entry ${n} is missing`);
  return entry;
}

const toHead = ({ header, head, lease }: KnownSession): SessionHead => ({ header, head, ...toHeadLease(lease) });

/** Reads a session from its last snapshot on. */
export function loadSession(db: Connection, sessionId: string): StoredSession | undefined {
  const deletedAt = findDeletion(db, sessionId);
  if (deletedAt !== undefined) throw new SessionDeletedError(sessionId, deletedAt);
  const session = findSession(db, sessionId);
  if (session === undefined) return undefined;
  const { num, header, head } = session;
  const tagDamage = findTagDamage(db, num, header);
  if (tagDamage !== undefined) throw new SessionDamagedError(sessionId, tagDamage);
  const from = Math.max(1, Number(db.get(sql.lastSnapshot, num, head)?.['n'] ?? 1));
  const entries = readIntactEntries(db, session, { from, to: head, limit: head });
  return { ...toHead(session), entries, effects: checks.readEffects(session, db.all(sql.effects, num), true) };
}

// Events are numbered along the log. So every entry after the last one that was seen has either later events or none.
// That entry is read too, so that a damaged number of events in it is found.
function readLaterEntries(db: Connection, session: KnownSession, range: Range & { readonly afterSeq: number }): readonly LogEntry[] {
  const { to, limit, afterSeq } = range;
  const seen = db.get(sql.lastUntil, session.num, range.from, to, afterSeq);
  const found: LogEntry[] = [];
  for (let from = Number(seen?.['n'] ?? range.from); from <= to && found.length < limit; from += limit) {
    const entries = readIntactEntries(db, session, { from, to, limit });
    found.push(...entries.filter(({ lastSeq }) => lastSeq !== undefined && lastSeq > afterSeq));
  }
  return found.slice(0, limit);
}

/** Reads entries of a session, in their order. */
export function readEntries(db: Connection, sessionId: string, query: EntryQuery): readonly LogEntry[] {
  const session = findSession(db, sessionId);
  if (session === undefined) return [];
  const range = parseRange(query, session.head);
  const { afterSeq } = query;
  return afterSeq === undefined ? readIntactEntries(db, session, range) : readLaterEntries(db, session, { ...range, afterSeq });
}

/** Finds the entry that answered a request. */
export function findAnswer(db: Connection, sessionId: string, requestId: string): LogEntry | undefined {
  const session = findSession(db, sessionId);
  const row = session && db.get(sql.request, session.num, requestId, session.head);
  return row && checks.readEntry(sessionId, row);
}

/** Reads the head of a session. */
export function readHead(db: Connection, sessionId: string): SessionHead | undefined {
  const session = findSession(db, sessionId);
  return session && toHead(session);
}

/** Reads rows of the open step, and nothing of the log. */
export function readEffects(db: Connection, sessionId: string, query: EffectQuery): OpenEffects | undefined {
  const { prefix, skip } = parseEffectQuery(query);
  const session = findSession(db, sessionId);
  if (session === undefined) return undefined;
  const { num, head, header } = session;
  if (prefix === '') return { header, head, effects: checks.readEffects(session, db.all(sql.effects, num), true).slice(skip) };
  return { header, head, effects: checks.readEffects(session, db.all(sql.effectsFrom, num, prefix, prefix, skip), false) };
}
