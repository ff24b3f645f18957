// Claims of sessions.
// Owns:     who gets which session, and what that changes of its row.
// Does not: begin or end the transaction.
// C1. Sessions at rest cost a claim nothing: only those that are ready, or due, are looked at, by their indexes.
// C2. Of each tenant, a claim reads few more sessions than it may take, however many are ready.
import type { ClaimedSession, ClaimedSessions, ClaimQuery, StoredRow } from '../index.ts';
import { mostUrgent, stickyMs } from '../index.ts';
import type { Changed } from '../table/index.ts';
import type { Connection } from './connection.ts';
import type { SqliteValue } from './sqlite-database.ts';
import { readSafely } from './tables.ts';

const isText = (value: unknown): value is string => typeof value === 'string';
const returnsId = 'RETURNING (SELECT id FROM sessions WHERE num = heads.session) AS id';

/** Runs an `UPDATE` of heads that returns ids. */
const change = (db: Connection, text: string, ...values: readonly SqliteValue[]): readonly string[] =>
  db
    .all(text, ...values)
    .map((row) => row['id'])
    .filter(isText);

// What a claim asks for is the only parameter of its statements: JSON text.
const readAsk = (field: string): string => `(SELECT json_extract(ask.json, '$.${field}') FROM ask)`;
const listAsk = (field: string): string => `(SELECT value FROM ask, json_each(ask.json, '$.${field}'))`;
const askReleases = "(SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM ask, json_each(ask.json, '$.releases'))";

const isForWorker = `s.format <= ${readAsk('maxFormat')} AND s.id NOT IN ${listAsk('except')} AND typeof(s.id) = 'text'
  AND (s.agent_id IN ${listAsk('agents')} OR (s.agent_id, s.agent_release) IN ${askReleases})
  AND NOT EXISTS (SELECT 1 FROM quarantine WHERE quarantine.session = s.num AND quarantine.id = s.id)`;
const isLeftToLast = `r.last <> ${readAsk('worker')} AND ${readAsk('storeNow')} - r.ready_at < ${stickyMs}
  AND EXISTS (SELECT 1 FROM workers WHERE workers.id = r.last AND workers.room > 0)`;
const isForAny = `${isForWorker} AND NOT coalesce(${isLeftToLast}, FALSE)`;

// By their names, those that are asked for; else the first of each tenant. One tenant after the other is found in the index.
const findNamed = (isUrgent: 0 | 1): string => `SELECT r.session FROM sessions AS s CROSS JOIN heads AS r ON r.session = s.num
  WHERE s.id IN ${listAsk('sessionIds')} AND r.is_ready = 1 AND r.is_urgent = ${isUrgent} AND ${isForWorker}`;
const urgentReady = `SELECT r.session FROM heads AS r CROSS JOIN sessions AS s ON s.num = r.session
  WHERE r.is_ready = 1 AND r.is_urgent = 1 AND ${isForAny}`;
const firstReady = `SELECT f.session FROM tenants CROSS JOIN heads AS f WHERE f.session IN (
  SELECT r.session FROM heads AS r CROSS JOIN sessions AS s ON s.num = r.session
  WHERE r.is_ready = 1 AND r.tenant = tenants.tenant AND r.is_urgent = 0 AND ${isForAny}
  ORDER BY r.attempts > 0, r.ready_at, r.session LIMIT (SELECT most FROM depth))`;

/** Orders sessions so that each tenant has its turn. Those that have cost workers come last. `depth`: how many of a tenant are looked at. */
const selectFairly = (found: string, depth = 'NULL'): string => `WITH RECURSIVE ask(json) AS (SELECT ?),
  tenants(tenant) AS (
    SELECT min(tenant) FROM heads WHERE is_ready = 1
    UNION ALL
    SELECT (SELECT min(tenant) FROM heads WHERE is_ready = 1 AND heads.tenant > tenants.tenant) FROM tenants WHERE tenant IS NOT NULL
  ),
  depth(most) AS (SELECT max(${readAsk('depth')}, (${readAsk('limit')} - 1) / max(1, count(tenant)) + 1) FROM tenants),
  found(session) AS (${found}),
  turns AS (
    SELECT h.session, h.fence, h.head, h.attempts, h.posted, h.applied, h.ready_at,
      CASE WHEN h.attempts > 0 THEN NULL ELSE row_number() OVER (PARTITION BY h.tenant ORDER BY h.attempts > 0, h.ready_at, h.session) END AS turn
    FROM found CROSS JOIN heads AS h ON h.session = found.session
  )
  SELECT ${readSafely(['session', 'fence', 'head', 'attempts'])}, turns.posted > turns.applied AS has_mail,
    (SELECT id FROM sessions WHERE num = turns.session) AS id, ${depth} AS depth
  FROM turns ORDER BY turns.turn NULLS LAST, turns.ready_at, turns.session LIMIT ${readAsk('limit')}`;

// Sessions at rest that are to be woken. The index is named: SQLite would rather read all sessions of an agent.
const anyAsleep = 'heads AS h INDEXED BY heads_wake CROSS JOIN sessions AS s ON s.num = h.session WHERE TRUE';
const namedAsleep = `sessions AS s CROSS JOIN heads AS h ON h.session = s.num WHERE s.id IN ${listAsk('sessionIds')}`;
const toWakeDue = (asleep: string): string => `WITH ask(json) AS (SELECT ?)
  UPDATE heads SET is_ready = 1 WHERE session IN (SELECT h.session FROM ${asleep}
    AND h.wake_at <= ${readAsk('now')} AND h.owner IS NULL AND h.is_ready = 0 AND ${isForWorker}) ${returnsId}`;
const toNextWake = (asleep: string): string => `WITH ask(json) AS (SELECT ?)
  SELECT min(h.wake_at, ${Number.MAX_SAFE_INTEGER}) AS wake_at FROM ${asleep}
    AND h.wake_at > ${readAsk('now')} AND h.owner IS NULL AND h.is_ready = 0 AND ${isForWorker} ORDER BY h.wake_at LIMIT 1`;

const texts = {
  any: {
    wakeDue: toWakeDue(anyAsleep),
    urgent: selectFairly(urgentReady),
    others: selectFairly(firstReady, '(SELECT most FROM depth)'),
    nextWake: toNextWake(anyAsleep),
  },
  named: {
    wakeDue: toWakeDue(namedAsleep),
    urgent: selectFairly(findNamed(1)),
    others: selectFairly(findNamed(0)),
    nextWake: toNextWake(namedAsleep),
  },
};
const takeLeases = `UPDATE heads SET fence = fence + 1, owner = ?, last = ?, is_ready = 0, is_stepping = 0
  WHERE session IN (SELECT value FROM json_each(?))`;

/** Selects sessions that are ready, in their order. More of each tenant are looked at only if too few are found. */
function selectReady(db: Connection, text: string, ask: { readonly limit: number }): readonly StoredRow[] {
  const { limit } = ask;
  for (let depth = 1; limit > 0; depth *= 4) {
    const rows = db.all(text, JSON.stringify({ ...ask, depth }));
    const hasEnough = rows.length === limit && rows.every((row) => row['attempts'] === 0);
    depth = Number(rows[0]?.['depth'] ?? limit);
    // With fewer rows than that, none is left of any tenant.
    if (hasEnough || depth >= limit || rows.length < depth) return rows;
  }
  return [];
}

/** Claims sessions that are ready, or due. */
export function claimSessions(db: Connection, query: ClaimQuery, storeNow: number): Changed<ClaimedSessions> {
  const { worker, limit, agents, maxFormat, now, sessionIds, except = [] } = query;
  if (db.get('SELECT 1 FROM workers WHERE id = ?', worker) === undefined) return { value: { sessions: [] }, sessionIds: [] };
  const { wakeDue, urgent, others, nextWake } = sessionIds === undefined ? texts.any : texts.named;
  const ask = {
    ...{ worker, storeNow, now, maxFormat, except, sessionIds },
    agents: agents.flatMap(({ name, releases }) => (releases === undefined ? name : [])),
    releases: agents.flatMap(({ name, releases = [] }) => releases.map((release) => [name, release])),
  };
  const due = limit > 0 ? change(db, wakeDue, JSON.stringify(ask)) : [];
  const first = selectReady(db, urgent, { ...ask, limit: mostUrgent });
  const chosen = [...first, ...selectReady(db, others, { ...ask, limit: limit - first.length })];
  const nums = chosen.map((row) => Number(row['session']));
  if (chosen.length > 0) db.run(takeLeases, worker, worker, JSON.stringify(nums));
  const sessions = chosen.map((row): ClaimedSession => {
    const read = (column: string): number => Number(row[column]);
    const hasMail = row['has_mail'] === 1;
    return { sessionId: String(row['id']), fence: read('fence') + 1, head: read('head'), attempts: read('attempts'), hasMail };
  });
  const nextWakeAt = db.get(nextWake, JSON.stringify(ask))?.['wake_at'];
  return {
    value: { sessions, ...(typeof nextWakeAt === 'number' && { nextWakeAt }) },
    sessionIds: [...due, ...sessions.map(({ sessionId }) => sessionId)],
  };
}
