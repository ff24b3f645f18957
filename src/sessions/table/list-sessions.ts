// Lists of sessions, page by page.
// Owns:     which rows are read; all of them are checked, and damage to one session never takes the page with it.
import { DamagedDataError, omitUndefined } from '../../lib/index.ts';
import type { ListedSession, SessionHeader, SessionPage, SessionQuery, StoredRow } from '../index.ts';
import { parsePage, readHeader } from '../index.ts';
import type { Dialect } from './dialect.ts';
import { checks, isIntact } from './rows.ts';
import type { Statement, TableWork } from './statement.ts';
import { joinConditions, ask, listWanted, raw, sql } from './statement.ts';

function listConditions(query: SessionQuery): readonly Statement[] {
  const { tenant, agentName, owner, status, stopReason, tag, isOpen, wakeBefore, updatedBefore } = query;
  const conditions = [
    tenant !== undefined && sql`tenant = ${tenant}`,
    agentName !== undefined && sql`agent_id = ${agentName}`,
    owner !== undefined && sql`owner = ${owner}`,
    status !== undefined && sql`status = ${status}`,
    stopReason !== undefined && sql`stop_reason = ${stopReason}`,
    tag !== undefined && sql`num IN (SELECT session FROM @session_tags WHERE tag = ${tag})`,
    wakeBefore !== undefined && sql`wake_at <= ${wakeBefore}`,
    // Without an index: every write would have to change it.
    updatedBefore !== undefined && sql`updated_at < ${updatedBefore}`,
    // Written out, so that the index of open sessions is used.
    isOpen !== undefined && raw(isOpen ? 'is_open = 1' : 'is_open = 0'),
  ];
  return conditions.filter((each) => each !== false);
}

/** One place in a page: a row of `sessions`, or the remains of a session whose row is lost. */
interface Found {
  readonly num: number;
  readonly row: StoredRow;
}

const toFound = (row: StoredRow): Found => ({ num: Number(row['num']), row });

/** Rows that say more about the sessions of a page. */
interface More {
  readonly tags: readonly StoredRow[];
  readonly notes: readonly StoredRow[];
  /** First entries of sessions with a damaged header. They know the id too, should it be the id that was changed. */
  readonly firsts: readonly StoredRow[];
}

/** Reads the note of a session's damage. A note names the session twice, so its session is known even if one name was changed. */
function readNote(id: string, num: number, notes: readonly StoredRow[]): string | undefined {
  const row = notes.find((each) => (each['id'] === id && each['session'] === num) || isIntact('quarantine', { ...each, id, session: num }));
  if (row === undefined) return undefined;
  return isIntact('quarantine', row) ? String(row['damage']) : 'what was noted of its damage does not match its checksum';
}

/** Reads a header, or says why it cannot be read. */
function tryReadHeader(row: StoredRow): SessionHeader | { readonly damage: string } {
  if (!isIntact('sessions', row)) return { damage: 'its header does not match its checksum' };
  try {
    return readHeader(row);
  } catch (error) {
    if (error instanceof DamagedDataError || error instanceof SyntaxError) return { damage: error.message };
    throw error;
  }
}

function toListed({ num, row }: Found, { tags, notes, firsts }: More): ListedSession {
  if (row['sum'] === undefined) return { id: String(row['id']), damage: 'its header is missing' };
  const header = tryReadHeader(row);
  if ('damage' in header) {
    const first = firsts.find((each) => each['session'] === num && isIntact('log', each));
    return { id: String(first === undefined ? row['id'] : first['session_id']), damage: header.damage };
  }
  const ownTags = tags.filter((each) => each['session'] === num);
  return omitUndefined({ id: header.id, header, damage: readNote(header.id, num, notes) ?? checks.findTagDamage(header, ownTags) });
}

/** Finds sessions without a header: sessions are numbered, and these fill a gap that no deleted one left. */
function* findLost(
  dialect: Dialect,
  found: readonly Found[],
  { limit, before, lastNum }: ReturnType<typeof parsePage> & { readonly lastNum: unknown },
): TableWork<readonly Found[]> {
  const highest = before === undefined ? Number(lastNum) : before - 1;
  const lowest = found.length <= limit ? 1 : Number(found.at(-1)?.num);
  if (found.length === highest - lowest + 1) return [];
  const { deleted } = yield* ask({ deleted: sql`SELECT count(*) AS count FROM @tombstones WHERE num BETWEEN ${lowest} AND ${highest}` });
  if (found.length + Number(deleted[0]?.['count']) === highest - lowest + 1) return [];
  return (yield* ask({ lost: dialect.findLost(lowest, highest) })).lost.map(toFound);
}

/** Lists a page of sessions, newest first. */
export function* listSessions(dialect: Dialect, query: SessionQuery): TableWork<SessionPage> {
  const bounds = parsePage(query);
  const { limit, before } = bounds;
  const conditions = listConditions(query);
  const where = joinConditions(before === undefined ? conditions : [...conditions, sql`num < ${before}`]);
  const { rows, last, tags, notes } = yield* ask(
    {
      rows: raw('SELECT {sessions} FROM @sessions WHERE num IN (SELECT num FROM page) ORDER BY sessions.num DESC'),
      last: conditions.length === 0 && before === undefined ? raw(`SELECT ${dialect.lastNum} AS num`) : undefined,
      tags: raw('SELECT {session_tags} FROM @session_tags WHERE session IN (SELECT num FROM page)'),
      notes: raw('SELECT {quarantine} FROM @quarantine WHERE id IN (SELECT id FROM page) OR session IN (SELECT num FROM page)'),
    },
    sql`SELECT num, id FROM @sessions WHERE ${where} ORDER BY num DESC LIMIT ${limit + 1}`,
  );
  const read = rows.map(toFound);
  const lost = conditions.length === 0 ? yield* findLost(dialect, read, { ...bounds, lastNum: last[0]?.['num'] }) : [];
  const found = [...read, ...lost].sort((one, other) => other.num - one.num);
  const page = found.slice(0, limit);
  const damaged = page.filter(({ row }) => row['sum'] !== undefined && !isIntact('sessions', row)).map(({ num }) => ({ num }));
  const { firsts } = yield* ask({
    firsts:
      damaged.length === 0 ? undefined : sql`SELECT {log} FROM @log WHERE n = 1 AND session IN (SELECT w.num FROM ${listWanted(damaged)})`,
  });
  const end = page.at(-1);
  return {
    sessions: page
      .map((each) => toListed(each, { tags, notes, firsts }))
      // A damaged row of another session's tags may have led here.
      .filter(({ header }) => query.tag === undefined || header === undefined || header.tags.includes(query.tag)),
    ...(end !== undefined && found.length > limit && { cursor: String(end.num) }),
  };
}
