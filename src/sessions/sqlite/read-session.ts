// Reading one session.
// Owns:     finding damaged and missing rows in what it reads.
// Does not: repair anything.
import type { EffectRow } from '../../journal/index.ts';
import type { EntryQuery, LogEntry, SessionHeader, StoredSession } from '../index.ts';
import { parseRange, SessionDamagedError } from '../index.ts';
import type { Connection } from './connection.ts';
import { toEffect, toEntry, toHeader } from './rows.ts';
import { sql } from './sql.ts';
import type { Row, TableName } from './tables.ts';
import { isIntact } from './tables.ts';

/** Facts that a writer needs about a session. */
export interface KnownSession {
  readonly num: number;
  readonly header: SessionHeader;
  readonly head: number;
  /** Number of stored effects. */
  readonly effects: number;
}

/** Throws unless the row is there and intact. */
function assertIntact(
  table: TableName,
  row: Row | undefined,
  { id, name }: { readonly id: string; readonly name: string },
): asserts row is Row {
  if (row === undefined) throw new SessionDamagedError(id, `${name} is missing`);
  if (!isIntact(table, row)) throw new SessionDamagedError(id, `${name} does not match its checksum`);
}

/** Finds the header and head of a session. Throws if either is damaged or missing. */
export function findSession(db: Connection, sessionId: string): KnownSession | undefined {
  const row = db.get(sql.session, sessionId);
  if (row === undefined && db.get(sql.firstEntryOf, sessionId) === undefined) return undefined;
  assertIntact('sessions', row, { id: sessionId, name: 'its header' });
  const num = Number(row['num']);
  const head = db.get(sql.head, num);
  assertIntact('heads', head, { id: sessionId, name: 'the number of its last entry' });
  return { num, header: toHeader(row), head: Number(head['head']), effects: Number(head['effects']) };
}

/** Describes the damage to the rows that a session is found with by its tags; undefined if there is none. */
export function findTagDamage(db: Connection, num: number, { tags }: SessionHeader): string | undefined {
  // A row that is not intact may belong to another session, so it does not count.
  const intact = db.all(sql.tags, num).filter((row) => isIntact('session_tags', row));
  const lost = tags.find((tag) => !intact.some((row) => row['tag'] === tag));
  return lost === undefined ? undefined : `the row of its tag "${lost}" is damaged or missing`;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

function readIntactEntries(db: Connection, { header, num }: KnownSession, { from, to, limit }: Range): readonly LogEntry[] {
  const last = Math.min(to, from + limit - 1);
  const rows = db.all(sql.entries, num, from, last, limit);
  for (let n = from; n <= last; n += 1) {
    const row = rows[n - from];
    assertIntact('log', row?.['n'] === n ? row : undefined, { id: header.id, name: `entry ${n}` });
  }
  return rows.map(toEntry);
}

function readIntactEffects(db: Connection, { header, num, effects }: KnownSession): readonly EffectRow[] {
  const rows = db.all(sql.effects, num);
  const intact = rows.filter((row) => isIntact('effects', row));
  for (let k = 1; k <= effects; k += 1) {
    if (intact[k - 1]?.['k'] === k) continue;
    const problem = rows.some((row) => row['k'] === k) ? 'does not match its checksum' : 'is missing';
    throw new SessionDamagedError(header.id, `effect ${k} of its open step ${problem}`);
  }
  if (intact.length > effects) throw new SessionDamagedError(header.id, 'its open step has more effects than were counted');
  return intact.map(toEffect);
}

/** Reads a session from its last snapshot on. */
export function loadSession(db: Connection, sessionId: string): StoredSession | undefined {
  const session = findSession(db, sessionId);
  if (session === undefined) return undefined;
  const { num, header, head } = session;
  const tagDamage = findTagDamage(db, num, header);
  if (tagDamage !== undefined) throw new SessionDamagedError(sessionId, tagDamage);
  const from = Math.max(1, Number(db.get(sql.lastSnapshot, num, head)?.['n'] ?? 1));
  const entries = readIntactEntries(db, session, { from, to: head, limit: head });
  return { header, head, entries, effects: readIntactEffects(db, session) };
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
  if (row === undefined) return undefined;
  assertIntact('log', row, { id: sessionId, name: `entry ${String(row['n'])}` });
  return toEntry(row);
}
