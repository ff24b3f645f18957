import { DamagedDataError, omitUndefined } from '../../lib/index.ts';
import type { ListedSession, SessionHeader, SessionPage, SessionQuery, StoredRow } from '../index.ts';
import { parsePage, readHeader } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import type { Sql } from './sql.ts';
import { checks, inSchema, isIntact } from './tables.ts';

/** Conditions of a query, with their values in order. */
function toFilters(
  schema: string,
  query: SessionQuery,
): { readonly conditions: readonly string[]; readonly values: readonly (string | number)[] } {
  const { tenant, agentName, owner, status, stopReason, tag, isOpen, wakeBefore, updatedBefore } = query;
  const values: (string | number)[] = [];
  const conditions: string[] = [];
  const add = (value: string | number | undefined, toCondition: (place: string) => string): void => {
    if (value !== undefined) conditions.push(toCondition(`$${values.push(value)}`));
  };
  add(tenant, (place) => `s.tenant = ${place}`);
  add(agentName, (place) => `s.agent_id = ${place}`);
  add(owner, (place) => `s.owner = ${place}`);
  add(status, (place) => `s.status = ${place}`);
  add(stopReason, (place) => `s.stop_reason = ${place}`);
  add(tag, (place) => `s.num IN (SELECT session FROM ${inSchema(schema, 'session_tags')} WHERE tag = ${place})`);
  add(wakeBefore, (place) => `s.wake_at <= ${place}::double precision`);
  add(updatedBefore, (place) => `s.updated_at < ${place}::double precision`);
  // Written out, so that the index of open sessions is used.
  if (isOpen !== undefined) conditions.push(isOpen ? 's.is_open = 1' : 's.is_open = 0');
  return { conditions, values };
}

/** One place in a page: a row of `sessions`, or the remains of a session whose row is lost. */
interface Found {
  readonly num: number;
  readonly row: StoredRow;
  readonly tags: readonly StoredRow[];
  readonly notes: readonly StoredRow[];
  /** Name by the first entry, should it be the id that was changed. */
  name?: string;
}

const toFound = (each: StoredRow): Found => {
  const row = readRow(each['row']) ?? {};
  return { num: Number(row['num']), row, tags: readRows(each['tags']), notes: readRows(each['notes']) };
};

const toLost = (row: StoredRow): Found => ({ num: Number(row['num']), row, tags: [], notes: [] });

function pageText(schema: string, conditions: readonly string[], limitPlace: string): string {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const name = (table: Parameters<typeof inSchema>[1]): string => inSchema(schema, table);
  return `
    WITH page AS (SELECT * FROM ${name('sessions')} s ${where} ORDER BY s.num DESC LIMIT ${limitPlace}::bigint)
    SELECT json_build_object(
      'lastNum', greatest(0, (SELECT max(num) FROM ${name('sessions')}), (SELECT max(session) FROM ${name('log')})),
      'rows', (SELECT json_agg(json_build_object(
        'row', row_to_json(page),
        'tags', (SELECT json_agg(t) FROM ${name('session_tags')} t WHERE t.session = page.num),
        'notes', (SELECT json_agg(q) FROM ${name('quarantine')} q WHERE q.id = page.id OR q.session = page.num)
      ) ORDER BY page.num DESC) FROM page)
    )::text AS found`;
}

/** Finds sessions without a header: sessions are numbered, and these fill a gap that no deleted one left. */
async function findLost(
  query: Query,
  sql: Sql,
  place: { readonly found: readonly Found[]; readonly limit: number; readonly highest: number },
): Promise<readonly Found[]> {
  const { found, limit, highest } = place;
  const lowest = found.length <= limit ? 1 : Number(found.at(-1)?.num);
  if (found.length === highest - lowest + 1) return [];
  return readRows((await queryJson(query, sql.lost, [lowest, highest]))['lost']).map(toLost);
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

/** Reads the note of a session's damage. A note names the session twice, so its session is known even if one name was changed. */
function readNote(id: string, { num, notes }: Found): string | undefined {
  const row = notes.find((each) => (each['id'] === id && each['session'] === num) || isIntact('quarantine', { ...each, id, session: num }));
  if (row === undefined) return undefined;
  return isIntact('quarantine', row) ? String(row['damage']) : 'what was noted of its damage does not match its checksum';
}

function toListed(found: Found): ListedSession {
  const { row, tags } = found;
  const name = found.name ?? String(row['id']);
  if (row['sum'] === undefined) return { id: name, damage: 'its header is missing' };
  if (!isIntact('sessions', row)) return { id: name, damage: 'its header does not match its checksum' };
  const header = tryReadHeader(row);
  if ('damage' in header) return { id: name, damage: header.damage };
  const damage = readNote(header.id, found) ?? checks.findTagDamage(header, tags);
  return omitUndefined({ id: header.id, header, damage });
}

/** Finds the names of damaged sessions by their first entries. */
async function nameDamaged(query: Query, sql: Sql, page: readonly Found[]): Promise<void> {
  const damaged = page.filter(({ row }) => row['sum'] !== undefined && !isIntact('sessions', row));
  if (damaged.length === 0) return;
  const found = await queryJson(query, sql.firstEntries, [JSON.stringify(damaged.map(({ num }) => num))]);
  for (const entry of readRows(found['entries'])) {
    const session = damaged.find(({ num }) => num === entry['session']);
    if (session !== undefined && isIntact('log', entry)) session.name = String(entry['session_id']);
  }
}

/** Lists a page of sessions, newest first. */
export async function listSessions(
  query: Query,
  { sql, schema }: { readonly sql: Sql; readonly schema: string },
  asked: SessionQuery,
): Promise<SessionPage> {
  const { limit, before } = parsePage(asked);
  const { conditions, values } = toFilters(schema, asked);
  const all: unknown[] = [...values];
  const bounded = before === undefined ? conditions : [...conditions, `s.num < $${all.push(before)}::bigint`];
  const answer = await queryJson(query, pageText(schema, bounded, `$${all.push(limit + 1)}`), all);
  const rows = readRows(answer['rows']).map(toFound);
  const highest = before === undefined ? Number(answer['lastNum']) : before - 1;
  const lost = conditions.length === 0 ? await findLost(query, sql, { found: rows, limit, highest }) : [];
  const found = [...rows, ...lost].sort((one, other) => other.num - one.num);
  const page = found.slice(0, limit);
  await nameDamaged(query, sql, page);
  const last = page.at(-1);
  return {
    sessions: page
      .map(toListed)
      // A damaged row of another session's tags may have led here.
      .filter(({ header }) => asked.tag === undefined || header === undefined || header.tags.includes(asked.tag)),
    ...(last !== undefined && found.length > limit && { cursor: String(last.num) }),
  };
}
