// Claims of sessions.
// Owns:     who gets which session, by the clock of the server.
// S1. A claim can be run again if nobody knows whether it was committed: a worker keeps the answer to its last one, so that none is lost.
//     A session that nobody knows to be claimed would be run by nobody.
// S3. Claims never wait for a session: one that is locked is left to others.
import { systemIds } from '../../lib/index.ts';
import type { ClaimedSessions, ClaimQuery } from '../index.ts';
import { mostUrgent, stickyMs } from '../index.ts';
import { isStorable } from './check-texts.ts';
import type { Query } from './connection.ts';
import { queryJson, readRows } from './connection.ts';
import { serverTime } from './dialect.ts';
import { inSchema } from './tables.ts';

/** Postgres counts to a number. */
const mostClaimed = 1_000_000;

/** Places behind the last that is wanted, in case that others have locked some before. */
const spare = 1000;

/** An array as Postgres reads it. Texts that cannot be stored belong to nothing. */
const toArray = (texts: readonly string[]): string =>
  `{${texts
    .filter(isStorable)
    .map((each) => `"${each.replaceAll(/["\\]/g, String.raw`\$&`)}"`)
    .join(',')}}`;

/** A claim, and whether it may have been committed before. */
interface ClaimAttempt {
  readonly token: string;
  readonly isRepeated: boolean;
}

/** SQL of a claim, with its values. The worker is locked only if that is of use: an empty claim writes nothing. */
function claimText(
  schema: string,
  { worker, limit, agents, maxFormat, now, sessionIds, except = [] }: ClaimQuery,
  { token, isRepeated }: ClaimAttempt,
): [string, unknown[]] {
  const values: unknown[] = [worker, token, Math.min(limit, mostClaimed), maxFormat, now, isRepeated];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const [heads, sessions, workers] = [inSchema(schema, 'heads'), inSchema(schema, 'sessions'), inSchema(schema, 'workers')];
  const quarantine = inSchema(schema, 'quarantine');
  const isListed = (column: string, texts: readonly string[]): string => `${column} = ANY (${place(toArray(texts))}::text[])`;

  const anyRelease = agents.filter(({ releases }) => releases === undefined).map(({ name }) => name);
  const isAgent = [
    isListed('s.agent_id', anyRelease),
    ...agents.flatMap(({ name, releases }) =>
      releases === undefined ? [] : `(${isListed('s.agent_id', [name])} AND ${isListed('s.agent_release', releases)})`,
    ),
  ];
  const conditions = [
    `(${isAgent.join(' OR ')})`,
    's.format <= $4::double precision',
    `NOT EXISTS (SELECT 1 FROM ${quarantine} q WHERE q.session = s.num)`,
    `NOT EXISTS (SELECT 1 FROM ${quarantine} q WHERE q.id = s.id)`,
  ];
  if (except.length > 0) conditions.push(`NOT ${isListed('s.id', except)}`);
  if (sessionIds !== undefined) conditions.push(isListed('s.id', sessionIds));
  const fits = conditions.join(' AND ');
  const isLeft = `h.last <> $1 AND h.ready_at > (SELECT ${serverTime} - ${stickyMs})
    AND EXISTS (SELECT 1 FROM ${workers} w WHERE w.id = h.last AND w.room > 0)`;

  // Of a session that was owned in between nothing may be left to do: it has another fence. The last places are tried too, since others may
  // have locked the first ones.
  const lock = (where: string, most: string): string => `
    SELECT h.session, r.place FROM (SELECT * FROM ranked WHERE ${where} ORDER BY place LIMIT ${most} + ${spare}) r
      JOIN ${heads} h ON h.session = r.session AND h.fence = r.fence AND h.owner IS NULL
      WHERE EXISTS (SELECT 1 FROM me WHERE claim IS DISTINCT FROM $2)
      ORDER BY r.place LIMIT ${most} FOR UPDATE OF h SKIP LOCKED`;

  // The answer is kept without ids: of a session that is deleted nothing is left.
  // OFFSET 0: one row after the other is looked up, whatever is known of the tables. Nearly all of their rows are of sessions at rest.
  const text = `
    WITH
      due AS MATERIALIZED (
        SELECT h.* FROM (SELECT num FROM ${sessions} WHERE wake_at <= $5::double precision OFFSET 0) s
          CROSS JOIN LATERAL (SELECT * FROM ${heads} WHERE session = s.num AND is_ready = 0 AND owner IS NULL OFFSET 0) h
      ),
      claimable AS (
        SELECT h.*, s.tenant FROM (
          SELECT session, fence, last, ready_at, attempts, is_urgent FROM ${heads} WHERE is_ready = 1 AND owner IS NULL
          UNION ALL
          SELECT session, fence, last, ready_at, attempts, is_urgent FROM due
        ) h JOIN ${sessions} s ON s.num = h.session
        WHERE EXISTS (SELECT 1 FROM ${workers} WHERE id = $1) AND ${fits}
          ${sessionIds === undefined ? `AND (${isLeft}) IS NOT TRUE` : ''}
      ),
      fair AS (SELECT *, row_number() OVER (PARTITION BY tenant ORDER BY ready_at, session) AS rank FROM claimable),
      ranked AS MATERIALIZED (
        SELECT session, fence, is_urgent,
          row_number() OVER (ORDER BY CASE WHEN attempts > 0 THEN NULL ELSE rank END NULLS LAST, ready_at, session) AS place FROM fair
      ),
      me AS MATERIALIZED (
        SELECT claim, claimed FROM ${workers} WHERE id = $1 AND ($6::boolean OR EXISTS (SELECT 1 FROM ranked WHERE is_urgent = 1 OR $3::bigint > 0)) FOR NO KEY UPDATE
      ),
      urgent AS MATERIALIZED (${lock('is_urgent = 1', String(mostUrgent))}),
      others AS MATERIALIZED (${lock('is_urgent = 0', 'greatest(0, $3::bigint - (SELECT count(*) FROM urgent))')}),
      chosen AS (SELECT session, 0 AS part, place FROM urgent UNION ALL SELECT session, 1, place FROM others),
      taken AS (
        UPDATE ${heads} h SET fence = h.fence + 1, owner = $1, last = $1, is_ready = 0, is_stepping = 0
          FROM chosen c WHERE h.session = c.session
          RETURNING h.session, h.fence, h.head, h.attempts, h.posted > h.applied AS has_mail, c.part, c.place
      ),
      answer AS MATERIALIZED (
        SELECT json_agg(json_build_object('session', t.session, 'fence', t.fence, 'head', t.head, 'attempts', t.attempts, 'hasMail', t.has_mail)
          ORDER BY t.part, t.place)::text AS claimed FROM taken t
      ),
      kept AS (UPDATE ${workers} SET claim = $2, claimed = a.claimed FROM answer a WHERE id = $1 AND a.claimed IS NOT NULL)
    SELECT json_build_object(
      'isJoined', EXISTS (SELECT 1 FROM ${workers} WHERE id = $1),
      'sessions', (
        SELECT coalesce(json_agg(c.value::jsonb || jsonb_build_object('sessionId', s.id) ORDER BY c.place), '[]')
          FROM json_array_elements(coalesce((SELECT claimed FROM me WHERE claim = $2), (SELECT claimed FROM answer), '[]')::json)
            WITH ORDINALITY c (value, place)
          CROSS JOIN LATERAL (SELECT id FROM ${sessions} WHERE num = (c.value ->> 'session')::bigint OFFSET 0) s),
      'nextWakeAt', (
        SELECT s.wake_at FROM ${sessions} s JOIN ${heads} h ON h.session = s.num
          WHERE s.wake_at > $5::double precision AND h.is_ready = 0 AND h.owner IS NULL AND ${fits}
          ORDER BY s.wake_at LIMIT 1)
    )::text AS found`;
  return [text, values];
}

async function claim(query: Query, schema: string, [asked, attempt]: readonly [ClaimQuery, ClaimAttempt]): Promise<ClaimedSessions> {
  const found = await queryJson(query, ...claimText(schema, asked, attempt));
  if (found['isJoined'] !== true) return { sessions: [] };
  const sessions = readRows(found['sessions']).map((row) => ({
    ...{ sessionId: String(row['sessionId']), fence: Number(row['fence']), head: Number(row['head']) },
    ...{ attempts: Number(row['attempts']), hasMail: row['hasMail'] === true },
  }));
  const nextWakeAt = found['nextWakeAt'];
  return { sessions, ...(typeof nextWakeAt === 'number' && { nextWakeAt }) };
}

/** Runs work on a connection, again if the connection is lost. */
type Run = <Value>(work: (query: Query) => Promise<Value>) => Promise<Value>;

/** Creates the function that claims sessions. */
export function createClaims(schema: string, run: Run): (asked: ClaimQuery) => Promise<ClaimedSessions> {
  /** Claims come one after the other: a worker keeps one answer. */
  let claiming: Promise<unknown> = Promise.resolve();
  /** Claims that may have been committed, by their workers: the next one asks for their answers first. */
  const claimIds = new Map<string, string>();
  async function claimNext(asked: ClaimQuery): Promise<ClaimedSessions> {
    if (!isStorable(asked.worker)) return { sessions: [] };
    let isRepeated = claimIds.has(asked.worker);
    const claimId = claimIds.get(asked.worker) ?? systemIds();
    claimIds.set(asked.worker, claimId);
    const claimed = await run((query) => {
      const attempt = { token: claimId, isRepeated };
      isRepeated = true;
      return claim(query, schema, [asked, attempt]);
    });
    claimIds.delete(asked.worker);
    return claimed;
  }
  return (asked) => {
    const work = (): Promise<ClaimedSessions> => claimNext(asked);
    const claimed = claiming.then(work, work);
    claiming = claimed;
    return claimed;
  };
}
