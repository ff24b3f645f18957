import { DamagedDataError, omitUndefined } from '../../lib/index.ts';
import type { ListedSession, SessionHeader, SessionPage, SessionQuery, StoredRow } from '../index.ts';
import { parsePage, readHeader } from '../index.ts';
import type { Connection } from './connection.ts';
import { findTagDamage } from './read-session.ts';
import type { SqliteValue } from './sqlite-database.ts';
import { sql } from './sql.ts';
import { isIntact, listColumnsSafely } from './tables.ts';

type Filter = readonly [condition: string, ...values: readonly SqliteValue[]];

function toFilters(query: SessionQuery): readonly Filter[] {
  const { tenant, agentName, owner, status, stopReason, tag, isOpen, wakeBefore, updatedBefore } = query;
  const filters: readonly (readonly [string, SqliteValue | undefined])[] = [
    ['tenant = ?', tenant],
    ['agent_id = ?', agentName],
    ['owner = ?', owner],
    ['status = ?', status],
    ['stop_reason = ?', stopReason],
    ['num IN (SELECT session FROM session_tags WHERE tag = ?)', tag],
    ['wake_at <= ?', wakeBefore],
    // Without an index: every write would have to change it.
    ['updated_at < ?', updatedBefore],
  ];
  const given = filters.flatMap(([condition, value]): readonly Filter[] => (value === undefined ? [] : [[condition, value]]));
  // Written out, so that the index of open sessions is used.
  return isOpen === undefined ? given : [...given, [isOpen ? 'is_open = 1' : 'is_open = 0']];
}

/** One place in a page: a row of `sessions`, or the remains of a session whose row is lost. */
interface Found {
  readonly num: number;
  readonly row: StoredRow;
}

const toFound = (row: StoredRow): Found => ({ num: Number(row['num']), row });

/** Finds sessions without a header: sessions are numbered without a gap but for deleted ones, and these fill one. */
function findLost(db: Connection, found: readonly Found[], { limit, before }: ReturnType<typeof parsePage>): readonly Found[] {
  const highest = before === undefined ? Number(db.get(sql.lastNum)?.['num']) : before - 1;
  const lowest = found.length <= limit ? 1 : Number(found.at(-1)?.num);
  const deleted = Number(db.get(sql.deletedBetween, lowest, highest)?.['count']);
  return found.length + deleted === highest - lowest + 1 ? [] : db.all(sql.lost, lowest, highest).map(toFound);
}

function findName(db: Connection, { num, row }: Found): string {
  // The first entry knows the id too, should it be the id that was changed.
  const first = db.get(sql.firstEntry, num);
  return String(first !== undefined && isIntact('log', first) ? first['session_id'] : row['id']);
}

/** Reads the note of a session's damage. A note names the session twice, so its session is known even if one name was changed. */
function readNote(db: Connection, id: string, num: number): string | undefined {
  const rows = db.all(sql.quarantined, id, num);
  const row = rows.find((each) => (each['id'] === id && each['session'] === num) || isIntact('quarantine', { ...each, id, session: num }));
  if (row === undefined) return undefined;
  return isIntact('quarantine', row) ? String(row['damage']) : 'what was noted of its damage does not match its checksum';
}

/** Reads a header, or says why it cannot be read: one session must not take the page with it. */
function tryReadHeader(row: StoredRow): SessionHeader | { readonly damage: string } {
  try {
    return readHeader(row);
  } catch (error) {
    if (error instanceof DamagedDataError || error instanceof SyntaxError) return { damage: error.message };
    throw error;
  }
}

function toListed(db: Connection, found: Found): ListedSession {
  const { num, row } = found;
  if (row['sum'] === undefined) return { id: String(row['id']), damage: 'its header is missing' };
  if (!isIntact('sessions', row)) return { id: findName(db, found), damage: 'its header does not match its checksum' };
  const header = tryReadHeader(row);
  if ('damage' in header) return { id: findName(db, found), damage: header.damage };
  const damage = readNote(db, header.id, num) ?? findTagDamage(db, num, header);
  return omitUndefined({ id: header.id, header, damage });
}

/** Lists a page of sessions, newest first. */
export function listSessions(db: Connection, query: SessionQuery): SessionPage {
  const bounds = parsePage(query);
  const { limit, before } = bounds;
  const filters = toFilters(query);
  const all: readonly Filter[] = before === undefined ? filters : [...filters, ['num < ?', before]];
  const where = all.length === 0 ? '' : `WHERE ${all.map(([condition]) => condition).join(' AND ')}`;
  const text = `SELECT ${listColumnsSafely('sessions')} FROM sessions ${where} ORDER BY sessions.num DESC LIMIT ?`;
  const rows = db.all(text, ...all.flatMap(([, ...values]) => values), limit + 1).map(toFound);
  const lost = filters.length === 0 ? findLost(db, rows, bounds) : [];
  const found = [...rows, ...lost].sort((one, other) => other.num - one.num);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    sessions: page
      .map((each) => toListed(db, each))
      // A damaged row of another session's tags may have led here.
      .filter(({ header }) => query.tag === undefined || header === undefined || header.tags.includes(query.tag)),
    ...(last !== undefined && found.length > limit && { cursor: String(last.num) }),
  };
}
