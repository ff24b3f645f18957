// Reading one session.
// Owns:     finding what is damaged or missing in what it reads.
// Does not: repair anything.
import type { EffectRow } from '../../journal/index.ts';
import { isRecord } from '../../lib/index.ts';
import { parseRange } from '../index.ts';
import type { EntryQuery, LogEntry, SessionHeader, StoredSession } from '../index.ts';
import { SessionDamagedError } from '../index.ts';
import { toEffect, toEntry, toHeader } from './rows.ts';
import type { SqliteStatement, SqliteValue } from './sqlite-database.ts';
import type { Statements } from './statements.ts';
import type { Row } from './tables.ts';
import { isIntact } from './tables.ts';

/** What a writer has to know of a session. */
export interface KnownSession {
  readonly num: number;
  readonly header: SessionHeader;
  readonly head: number;
  /** How many effects are kept. */
  readonly effects: number;
}

export function getRow(statement: SqliteStatement, ...values: SqliteValue[]): Row | undefined {
  const row = statement.get(...values);
  return isRecord(row) ? row : undefined;
}

export const getRows = (statement: SqliteStatement, ...values: SqliteValue[]): readonly Row[] => statement.all(...values).filter(isRecord);

/** What stands in an integer column. */
const getNumber = (row: Row, column: string): number => Number(row[column]);

function damaged(sessionId: string, damage: string): never {
  throw new SessionDamagedError(sessionId, damage);
}

/** Header and head of a session. Throws where either is damaged or missing. */
export function findSession(statements: Statements, sessionId: string): KnownSession | undefined {
  const row = getRow(statements.session, sessionId);
  if (row === undefined) {
    if (getRow(statements.firstEntryOf, sessionId) !== undefined) damaged(sessionId, 'its header is missing');
    return undefined;
  }
  if (!isIntact('sessions', row)) damaged(sessionId, 'its header does not match its checksum');
  const num = getNumber(row, 'num');
  const head = getRow(statements.head, num);
  if (head === undefined) damaged(sessionId, 'the number of its last entry is missing');
  if (!isIntact('heads', head)) damaged(sessionId, 'the number of its last entry does not match its checksum');
  return { num, header: toHeader(row), head: getNumber(head, 'head'), effects: getNumber(head, 'effects') };
}

/** What is wrong with the rows that a session is found by its tags with. */
export function findTagDamage(statements: Statements, session: Pick<KnownSession, 'num' | 'header'>): string | undefined {
  // A row that is not whole may belong to another session: it counts for nobody.
  const whole = getRows(statements.tags, session.num).filter((row) => isIntact('session_tags', row));
  const found = new Set(whole.map((row) => row['tag']));
  const lost = session.header.tags.find((tag) => !found.has(tag));
  return lost === undefined ? undefined : `the row of its tag "${lost}" is damaged or missing`;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

function readIntactEntries(statements: Statements, { header, num }: KnownSession, { from, to, limit }: Range): readonly LogEntry[] {
  const last = Math.min(to, from + limit - 1);
  const rows = getRows(statements.entries, num, from, last, limit);
  for (let n = from; n <= last; n += 1) {
    const row = rows[n - from];
    if (row?.['n'] !== n) damaged(header.id, `entry ${n} is missing`);
    if (!isIntact('log', row)) damaged(header.id, `entry ${n} does not match its checksum`);
  }
  return rows.map(toEntry);
}

function readIntactEffects(statements: Statements, { header, num, effects }: KnownSession): readonly EffectRow[] {
  const rows = getRows(statements.effects, num);
  const whole = rows.filter((row) => isIntact('effects', row));
  for (let k = 1; k <= effects; k += 1) {
    if (whole[k - 1]?.['k'] === k) continue;
    damaged(header.id, `effect ${k} of its open step ${rows.some((row) => row['k'] === k) ? 'does not match its checksum' : 'is missing'}`);
  }
  if (whole.length > effects) damaged(header.id, 'its open step has more effects than were counted');
  return whole.map(toEffect);
}

/** A session as it is read to go on with it. */
export function loadSession(statements: Statements, sessionId: string): StoredSession | undefined {
  const session = findSession(statements, sessionId);
  if (session === undefined) return undefined;
  const { num, header, head } = session;
  const tagDamage = findTagDamage(statements, session);
  if (tagDamage !== undefined) damaged(sessionId, tagDamage);
  const snapshot = getRow(statements.lastSnapshot, num, head);
  const from = Math.max(1, snapshot === undefined ? 1 : getNumber(snapshot, 'n'));
  const entries = readIntactEntries(statements, session, { from, to: head, limit: head });
  return { header, head, entries, effects: readIntactEffects(statements, session) };
}

// Events are numbered along the log. So whatever stands behind the last entry that was seen either has later events or none.
// That entry is read too: where its number of events was changed, it is found.
function laterEntries(statements: Statements, session: KnownSession, range: Range & { readonly afterSeq: number }): readonly LogEntry[] {
  const { to, limit, afterSeq } = range;
  const seen = getRow(statements.lastUntil, session.num, range.from, to, afterSeq);
  const found: LogEntry[] = [];
  for (let from = seen === undefined ? range.from : getNumber(seen, 'n'); from <= to && found.length < limit; from += limit) {
    const entries = readIntactEntries(statements, session, { from, to, limit });
    found.push(...entries.filter(({ lastSeq }) => lastSeq !== undefined && lastSeq > afterSeq));
  }
  return found.slice(0, limit);
}

/** Entries of a session, in their order. */
export function readEntries(statements: Statements, sessionId: string, query: EntryQuery): readonly LogEntry[] {
  const session = findSession(statements, sessionId);
  if (session === undefined) return [];
  const range = parseRange(query, session.head);
  const { afterSeq } = query;
  return afterSeq === undefined ? readIntactEntries(statements, session, range) : laterEntries(statements, session, { ...range, afterSeq });
}

/** The entry that answered a request. */
export function findAnswer(statements: Statements, sessionId: string, requestId: string): LogEntry | undefined {
  const session = findSession(statements, sessionId);
  const row = session && getRow(statements.request, session.num, requestId, session.head);
  if (row === undefined) return undefined;
  if (!isIntact('log', row)) damaged(sessionId, `entry ${String(row['n'])} does not match its checksum`);
  return toEntry(row);
}
