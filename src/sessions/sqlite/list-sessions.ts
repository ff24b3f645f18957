import { omitUndefined } from '../../lib/index.ts';
import { parsePage } from '../index.ts';
import type { ListedSession, SessionPage, SessionQuery } from '../index.ts';
import { findTagDamage, getRow, getRows } from './read-session.ts';
import { toHeader } from './rows.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';
import type { Statements } from './statements.ts';
import type { Row } from './tables.ts';
import { columns, isIntact } from './tables.ts';

/** Gives the statement of a text, prepared once. */
export type Prepare = (sql: string) => SqliteStatement;

export function createPrepare(database: SqliteDatabase): Prepare {
  const prepared = new Map<string, SqliteStatement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

const most = Number.MAX_SAFE_INTEGER;
const integers: ReadonlySet<string> = new Set(['num', 'is_open', 'wake_at', 'created_at', 'updated_at', 'sum']);

// A damaged number may be too large to be read, and would take the whole page with it.
const readable = [...columns.sessions, 'sum']
  .map((column) => (integers.has(column) ? `max(min(${column}, ${most}), ${-most}) AS ${column}` : column))
  .join(', ');

interface Filter {
  readonly where: string;
  readonly values: readonly SqliteValue[];
}

const filter = (where: string, value: SqliteValue | undefined): readonly Filter[] =>
  value === undefined ? [] : [{ where, values: [value] }];

function toFilters(query: SessionQuery): readonly Filter[] {
  const { isOpen } = query;
  return [
    ...filter('tenant = ?', query.tenant),
    ...filter('agent_id = ?', query.agentId),
    ...filter('owner = ?', query.owner),
    ...filter('status = ?', query.status),
    ...filter('stop_reason = ?', query.stopReason),
    ...filter('num IN (SELECT session FROM session_tags WHERE tag = ?)', query.tag),
    // Written out, so that the index of open sessions is used.
    ...(isOpen === undefined ? [] : [{ where: isOpen ? 'is_open = 1' : 'is_open = 0', values: [] }]),
    ...filter('wake_at <= ?', query.wakeBefore),
  ];
}

/** One place in a page: a row of `sessions`, or what is left of a session whose row is lost. */
interface Found {
  readonly num: number;
  readonly row: Row;
}

const toFound = (row: Row): Found => ({ num: Number(row['num']), row });

interface Bounds {
  readonly before: number | undefined;
  /** How many rows to look for. */
  readonly count: number;
}

/** Sessions are numbered without a gap: what fills one has lost its header. */
function findLost(statements: Statements, found: readonly Found[], { before, count }: Bounds): readonly Found[] {
  const highest = before === undefined ? Number(getRow(statements.lastNum)?.['num']) : before - 1;
  const lowest = found.length < count ? 1 : Number(found.at(-1)?.num);
  return found.length === highest - lowest + 1 ? [] : getRows(statements.lost, lowest, highest).map(toFound);
}

function findName(statements: Statements, { num, row }: Found): string {
  // The first entry knows the id too, should it be the id that was changed.
  const first = getRow(statements.firstEntry, num);
  return String(first !== undefined && isIntact('log', first) ? first['session_id'] : row['id']);
}

/** What was noted of a session's damage. A note names it twice, and vouches for both: so it is known whose it is where one was changed. */
function readNote(statements: Statements, id: string, num: number): string | undefined {
  const rows = getRows(statements.quarantined, id, num);
  const row = rows.find((each) => (each['id'] === id && each['session'] === num) || isIntact('quarantine', { ...each, id, session: num }));
  if (row === undefined) return undefined;
  return isIntact('quarantine', row) ? String(row['damage']) : 'what was noted of its damage does not match its checksum';
}

function toListed(statements: Statements, found: Found): ListedSession {
  const { num, row } = found;
  if (row['sum'] === undefined) return { id: String(row['id']), damage: 'its header is missing' };
  if (!isIntact('sessions', row)) return { id: findName(statements, found), damage: 'its header does not match its checksum' };
  const header = toHeader(row);
  const damage = readNote(statements, header.id, num) ?? findTagDamage(statements, { num, header });
  return omitUndefined({ id: header.id, header, damage });
}

/** A page of sessions, newest first. */
export function listSessions(statements: Statements, prepare: Prepare, query: SessionQuery): SessionPage {
  const { limit, before } = parsePage(query);
  const filters = toFilters(query);
  const all = [...filters, ...filter('num < ?', before)];
  const where = all.length === 0 ? '' : `WHERE ${all.map((each) => each.where).join(' AND ')}`;
  const statement = prepare(`SELECT ${readable} FROM sessions ${where} ORDER BY sessions.num DESC LIMIT ?`);
  const rows = getRows(statement, ...all.flatMap(({ values }) => values), limit + 1).map(toFound);
  const lost = filters.length === 0 ? findLost(statements, rows, { before, count: limit + 1 }) : [];
  const found = [...rows, ...lost].sort((one, other) => other.num - one.num);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    sessions: page
      .map((each) => toListed(statements, each))
      // A damaged row of another session's tags may have led here.
      .filter(({ header }) => query.tag === undefined || header === undefined || header.tags.includes(query.tag)),
    ...(last !== undefined && found.length > limit && { cursor: String(last.num) }),
  };
}
