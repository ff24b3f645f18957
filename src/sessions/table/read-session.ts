// Reading one session.
// Owns:     which rows are read; all of them are checked.
// Does not: repair anything.
import type { EffectQuery, EntryQuery, KnownSession, LogEntry, OpenEffects, SessionHead, StoredRow, StoredSession } from '../index.ts';
import { parseEffectQuery, parseRange, SessionDamagedError, SessionDeletedError, toHeadLease } from '../index.ts';
import { checks } from './rows.ts';
import type { Statement, TableWork } from './statement.ts';
import { ask, raw, sql } from './statement.ts';

/** SQL for the number of the session, and of its last entry. */
const ofOne = 'session = (SELECT num FROM page)';
const head = raw(`SELECT {heads} FROM @heads WHERE ${ofOne}`);
const readable = raw(`${ofOne} AND n <= (SELECT head FROM @heads WHERE ${ofOne})`);
const lastSnapshot = sql`SELECT n FROM @log WHERE ${readable} AND is_snapshot = 1 ORDER BY n DESC LIMIT 1`;
const allEffects = raw(`SELECT * FROM @effects WHERE ${ofOne} ORDER BY k`);

/** Finds the tombstones of sessions that are, or may be, deleted. */
export const findTombstones = (sessionId: string): Statement => {
  const id = checks.toTombstoneId(sessionId);
  return sql`SELECT {tombstones} FROM @tombstones WHERE id = ${id} OR id_copy = ${id}`;
};

/** A session that was found, with the rows that were asked for. */
interface Found<Name extends string> {
  readonly session: KnownSession | undefined;
  readonly rows: Readonly<Record<Name, readonly StoredRow[]>>;
}

/** Reads a session with some of its rows. Throws if its header or its head is damaged or missing; with tombstones, also if it was deleted. */
function* findSession<Name extends string>(sessionId: string, asked: Readonly<Record<Name, Statement>>): TableWork<Found<Name>> {
  const named = { ...sql`SELECT 1 AS one FROM @log WHERE session_id = ${sessionId}`, isForMissing: true };
  const isOne = sql`@sessions WHERE id = ${sessionId}`;
  const parts: Record<string, Statement> = { session: sql`SELECT * FROM ${isOne}`, head, ...asked, named };
  const rows = yield* ask(parts, sql`SELECT num FROM ${isOne}`);
  const deletedAt = checks.findDeletion(sessionId, rows['tombstones'] ?? []);
  if (deletedAt !== undefined) throw new SessionDeletedError(sessionId, deletedAt);
  const [session, first] = [rows['session']?.[0], rows['named']?.[0]];
  const known = session === undefined && first === undefined ? undefined : { session, head: rows['head']?.[0] };
  return { session: known && checks.readKnown(sessionId, known), rows };
}

const toHead = ({ header, head: last, lease }: KnownSession): SessionHead => ({ header, head: last, ...toHeadLease(lease) });

/** Reads a session from its last snapshot on. */
export function* loadSession(sessionId: string): TableWork<StoredSession | undefined> {
  const { session, rows } = yield* findSession(sessionId, {
    tombstones: { ...findTombstones(sessionId), isForMissing: true },
    tags: raw(`SELECT {session_tags} FROM @session_tags WHERE ${ofOne}`),
    snapshot: lastSnapshot,
    entries: sql`SELECT * FROM @log WHERE ${readable} AND n >= coalesce((${lastSnapshot}), 1) ORDER BY n`,
    effects: allEffects,
  });
  if (session === undefined) return undefined;
  const tagDamage = checks.findTagDamage(session.header, rows.tags);
  if (tagDamage !== undefined) throw new SessionDamagedError(sessionId, tagDamage);
  const from = Math.max(1, Number(rows.snapshot[0]?.['n'] ?? 1));
  const entries = checks.readEntries(session, rows.entries, { from, to: session.head });
  return { ...toHead(session), entries, effects: checks.readEffects(session, rows.effects, true) };
}

/** Reads entries of a session, in their order. */
export function* readEntries(sessionId: string, query: EntryQuery): TableWork<readonly LogEntry[]> {
  const { from, to, limit } = parseRange(query, Number.MAX_SAFE_INTEGER);
  const { afterSeq } = query;
  if (from > to) return [];
  let next = from;
  if (afterSeq !== undefined) {
    // Events are numbered along the log. So every entry after the last one that was seen has either later events or none.
    // That entry is read too, so that a damaged number of events in it is found.
    const { rows } = yield* findSession(sessionId, {
      seen: sql`SELECT n FROM @log WHERE ${readable} AND n >= ${from} AND n <= ${to} AND last_seq <= ${afterSeq} ORDER BY n DESC LIMIT 1`,
    });
    next = Number(rows.seen[0]?.['n'] ?? from);
  }
  const found: LogEntry[] = [];
  for (;;) {
    const last = Math.min(to, next + limit - 1);
    const { session, rows } = yield* findSession(sessionId, {
      entries: sql`SELECT * FROM @log WHERE ${readable} AND n >= ${next} AND n <= ${last} ORDER BY n`,
    });
    if (session === undefined) return [];
    const entries = checks.readEntries(session, rows.entries, { from: next, to: Math.min(last, session.head) });
    if (afterSeq === undefined) return entries;
    found.push(...entries.filter(({ lastSeq }) => lastSeq !== undefined && lastSeq > afterSeq));
    next = last + 1;
    if (next > Math.min(to, session.head) || found.length >= limit) return found.slice(0, limit);
  }
}

/** Finds the entry that answered a request. */
export function* findAnswer(sessionId: string, requestId: string): TableWork<LogEntry | undefined> {
  const { session, rows } = yield* findSession(sessionId, {
    entry: sql`SELECT * FROM @log WHERE ${readable} AND request_id = ${requestId}`,
  });
  const [row] = rows.entry;
  return session && row && checks.readEntry(sessionId, row);
}

/** Reads the head of a session. */
export function* readHead(sessionId: string): TableWork<SessionHead | undefined> {
  const { session } = yield* findSession(sessionId, {});
  return session && toHead(session);
}

/** Reads rows of the open step, and nothing of the log. */
export function* readEffects(sessionId: string, query: EffectQuery): TableWork<OpenEffects | undefined> {
  const { prefix, skip } = parseEffectQuery(query);
  const isWhole = prefix === '' && skip === 0;
  // Of rows that are skipped the long texts are not read.
  const fitting = sql`SELECT k FROM @effects WHERE ${raw(ofOne)} AND substr(key, 1, length(${prefix})) = ${prefix}
    ORDER BY k LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${skip}`;
  const { session, rows } = yield* findSession(sessionId, {
    effects: isWhole ? allEffects : sql`SELECT * FROM @effects WHERE ${raw(ofOne)} AND k IN (${fitting}) ORDER BY k`,
  });
  if (session === undefined) return undefined;
  return { header: session.header, head: session.head, effects: checks.readEffects(session, rows.effects, isWhole) };
}
