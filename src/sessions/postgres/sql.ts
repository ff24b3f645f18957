import { inSchema, listColumns } from './tables.ts';
import { selectWorkers } from './wake.ts';

/** Ends every statement that the store reads from: the answer is one JSON text, so that no type is converted on the way. */
const asFound = '::text AS found';

/** Facts that a batch needs, besides the headers and the time. */
export interface FactsNeeded {
  /** Number of writes that create sessions. */
  readonly creates: number;
  readonly hasRequests: boolean;
  readonly hasEffects: boolean;
  /** True if it gives stored entries new texts. */
  readonly rewrites: boolean;
  readonly deletes: boolean;
  /** True if it posts or answers mails. */
  readonly hasMail: boolean;
  /** `named`: only workers whose ids are in `$2`, as JSON. */
  readonly workers: 'all' | 'named';
}

/** SQL texts of a store that are the same each time. */
export interface Sql {
  /** Begins the transaction of a batch. Several statements in one. */
  readonly begin: string;
  /** Reads the facts that a batch needs. `$1`: the sessions, as JSON. */
  readonly facts: (needed: FactsNeeded) => string;
  /** Traces of sessions in a list that have no header: entries that name them, and tombstones. */
  readonly traces: string;
  readonly addQuarantine: string;
  readonly dropQuarantine: string;
  readonly load: string;
  readonly entries: string;
  readonly lastSeen: string;
  readonly request: string;
  readonly head: string;
  /** `$2`: prefix of the keys, `$3`: rows to skip. */
  readonly effects: string;
  readonly lost: string;
  readonly firstEntries: string;
  /** Waits for a transaction of a store that may still be open, and reads the number of the last batch that the store has committed. */
  readonly lastBatch: string;
  /** Ends a connection that holds a transaction open and waits for its client. */
  readonly endIdle: string;
}

/**
 * Time that the server waits for the next statement of a transaction. A process that stands still meanwhile would keep its sessions locked,
 * and the counter of the feed, for which everybody else waits. One that continues later tries its transaction again.
 */
const idleMs = 1000;

/** SQL for the time on the clock of the server, in milliseconds since the epoch. */
export const serverTime = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

/** SQL that is true for the tombstones of a session, `t`. */
export function matchTombstone(id: string): string {
  const digest = `'sha256:' || encode(sha256(convert_to(${id}, 'UTF8')), 'hex')`;
  return `t.id = ${digest} OR t.id_copy = ${digest}`;
}

/** Texts for the tables in a schema. */
export function createSql(schema: string, timeoutMs: number): Sql {
  const sessions = inSchema(schema, 'sessions');
  const heads = inSchema(schema, 'heads');
  const tags = inSchema(schema, 'session_tags');
  const log = inSchema(schema, 'log');
  const effects = inSchema(schema, 'effects');
  const quarantine = inSchema(schema, 'quarantine');
  const workers = inSchema(schema, 'workers');
  const writers = inSchema(schema, 'writers');
  const mail = inSchema(schema, 'mail');
  const tombstones = inSchema(schema, 'tombstones');

  const selectTombstone = (id: string): string => `(SELECT json_agg(t) FROM ${tombstones} t WHERE ${matchTombstone(id)})`;
  const inJsonList = (place: string): string => `IN (SELECT json_array_elements_text(${place})::bigint)`;

  // Numbers that a session may have, each with the rows that say whose it is. With damage there may be two.
  const numbers = `(
    SELECT json_agg(json_build_object('num', own.num,
      'header', (SELECT row_to_json(o) FROM ${sessions} o WHERE o.num = own.num),
      'first', (SELECT row_to_json(l) FROM ${log} l WHERE l.session = own.num AND l.n = 1)))
    FROM (SELECT s.num UNION SELECT l.session FROM ${log} l WHERE l.session_id = wanted.id) AS own(num) WHERE own.num IS NOT NULL)`;

  // The server plans a statement each time: what is not asked for is left out.
  const facts = ({ creates, hasRequests, hasEffects, rewrites, deletes, hasMail, workers: asked }: FactsNeeded): string => `
    SELECT json_build_object(
      'now', ${serverTime},
      ${creates > 0 ? `'nums', (SELECT json_agg(nextval('${inSchema(schema, 'session_num')}')) FROM generate_series(1, ${creates})),` : ''}
      'workers', ${
        asked === 'all'
          ? selectWorkers(schema)
          : `(SELECT json_agg(json_build_object('id', id)) FROM ${workers}
        WHERE id IN (SELECT json_array_elements_text($2::json)))`
      },
      'sessions', (
        SELECT json_agg(json_build_object(
          ${creates > 0 ? `'isNamed', CASE WHEN s.num IS NULL THEN EXISTS (SELECT 1 FROM ${log} WHERE session_id = wanted.id) END,` : ''}
          ${creates > 0 || deletes ? `'tombstones', CASE WHEN s.num IS NULL THEN ${selectTombstone('wanted.id')} END,` : ''}
          ${deletes ? `'numbers', CASE WHEN wanted.deletes THEN ${numbers} END,` : ''}
          ${
            rewrites
              ? `'entries', CASE WHEN wanted.numbers IS NOT NULL THEN (
                  SELECT json_agg(l) FROM ${log} l WHERE l.session = s.num AND n ${inJsonList('wanted.numbers')}) END,`
              : ''
          }
          ${
            hasRequests
              ? `'answered', CASE WHEN wanted.requests IS NOT NULL THEN (
                  SELECT json_agg(request_id) FROM ${log} WHERE session = s.num AND n <= h.head
                    AND request_id IN (SELECT json_array_elements_text(wanted.requests))) END,`
              : ''
          }
          ${
            hasEffects
              ? `'effects', CASE WHEN wanted.effects THEN (
                  SELECT json_agg(json_build_object('key', key, 'phase', phase)) FROM ${effects} WHERE session = s.num) END,`
              : ''
          }
          ${
            hasMail
              ? `'mail', CASE WHEN wanted.mails IS NOT NULL OR wanted.posts IS NOT NULL THEN (
                  SELECT json_agg(m) FROM ${mail} m WHERE m.session = s.num AND (m.num ${inJsonList('wanted.mails')}
                    OR m.request_id IN (SELECT json_array_elements_text(wanted.posts)))) END,`
              : ''
          }
          'id', wanted.id,
          'session', row_to_json(s),
          'head', row_to_json(h)
        ))
        FROM json_to_recordset($1::json) AS wanted(
          id text, requests json, effects boolean, numbers json, mails json, posts json, deletes boolean)
        LEFT JOIN ${sessions} s ON s.id = wanted.id
        LEFT JOIN ${heads} h ON h.session = s.num
      )
    )${asFound}`;

  // Finds one session by its id, as s, and its head, as h.
  const one = `WITH s AS (SELECT * FROM ${sessions} WHERE id = $1), h AS (SELECT * FROM ${heads} WHERE session = (SELECT num FROM s))`;
  const known = `
      'session', (SELECT row_to_json(s) FROM s),
      'head', (SELECT row_to_json(h) FROM h),
      'isNamed', EXISTS (SELECT 1 FROM ${log} WHERE session_id = $1)`;
  const ofOne = `session = (SELECT num FROM s)`;
  const readable = `n <= (SELECT head FROM h)`;

  return {
    begin: `
      BEGIN ISOLATION LEVEL READ COMMITTED;
      SET LOCAL jit = off;
      SET LOCAL lock_timeout = ${timeoutMs};
      SET LOCAL idle_in_transaction_session_timeout = ${Math.min(timeoutMs, idleMs)};
      SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`,
    facts,
    traces: `SELECT json_build_object('traces', (
      SELECT json_agg(json_build_object(
        'id', missing.id, 'isNamed', EXISTS (SELECT 1 FROM ${log} WHERE session_id = missing.id), 'tombstones', ${selectTombstone('missing.id')}
      )) FROM json_array_elements_text($1::json) AS missing(id)
    ))${asFound}`,

    addQuarantine: `INSERT INTO ${quarantine} (${listColumns('quarantine')}) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    dropQuarantine: `DELETE FROM ${quarantine} WHERE id = $1`,

    load: `${one},
      snapshot AS (SELECT n FROM ${log} WHERE ${ofOne} AND ${readable} AND is_snapshot = 1 ORDER BY n DESC LIMIT 1)
      SELECT json_build_object(${known},
        'tombstones', CASE WHEN NOT EXISTS (SELECT 1 FROM s) THEN ${selectTombstone('$1')} END,
        'from', greatest(1, (SELECT n FROM snapshot)),
        'tags', (SELECT json_agg(t) FROM ${tags} t WHERE ${ofOne}),
        'entries', (SELECT json_agg(l ORDER BY n) FROM ${log} l
          WHERE ${ofOne} AND n >= greatest(1, (SELECT n FROM snapshot)) AND ${readable}),
        'effects', (SELECT json_agg(e ORDER BY k) FROM ${effects} e WHERE ${ofOne})
      )${asFound}`,
    entries: `${one}
      SELECT json_build_object(${known},
        'entries', (SELECT json_agg(l ORDER BY n) FROM ${log} l WHERE ${ofOne} AND n >= $2::bigint AND n <= $3::bigint AND ${readable})
      )${asFound}`,
    lastSeen: `${one}
      SELECT json_build_object(${known},
        'seen', (SELECT n FROM ${log} WHERE ${ofOne} AND n >= $2::bigint AND n <= $3::bigint AND ${readable}
          AND last_seq <= $4::double precision ORDER BY n DESC LIMIT 1)
      )${asFound}`,
    request: `${one}
      SELECT json_build_object(${known},
        'entry', (SELECT row_to_json(l) FROM ${log} l WHERE ${ofOne} AND request_id = $2 AND ${readable})
      )${asFound}`,
    head: `${one} SELECT json_build_object(${known})${asFound}`,
    effects: `${one}
      SELECT json_build_object(${known},
        'effects', (SELECT json_agg(e ORDER BY k) FROM (
          SELECT * FROM ${effects} WHERE ${ofOne} AND starts_with(key, $2) ORDER BY k OFFSET $3::bigint
        ) e)
      )${asFound}`,

    // Deleted sessions leave gaps too: only the gaps are looked at.
    lost: `
      SELECT json_build_object('lost', (
        SELECT json_agg(json_build_object('num', l.session, 'id', l.session_id))
        FROM generate_series($1::bigint, $2::bigint) AS gap(num) JOIN ${log} l ON l.session = gap.num AND l.session_id IS NOT NULL
        WHERE NOT EXISTS (SELECT 1 FROM ${sessions} WHERE num = gap.num) AND NOT EXISTS (SELECT 1 FROM ${sessions} WHERE id = l.session_id)
      ))${asFound}`,
    firstEntries: `
      SELECT json_build_object('entries', (
        SELECT json_agg(l) FROM ${log} l WHERE n = 1 AND session IN (SELECT json_array_elements_text($1::json)::bigint)
      ))${asFound}`,

    // Adding the row waits for whoever is adding or changing it, even if it was never committed before.
    lastBatch: `WITH last AS (
        INSERT INTO ${writers} AS w (id, batch) VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET batch = w.batch RETURNING batch
      )
      SELECT json_build_object('batch', (SELECT batch FROM last))${asFound}`,
    endIdle: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid = $1::int AND backend_xid::text = $2 AND state LIKE 'idle in transaction%'`,
  };
}

/** The rows of a JSON parameter, as a table `r`. */
export const recordset = (place: string, columns: string): string =>
  `json_to_recordset(${place}::json) AS r(${columns.replaceAll(' COLLATE "C"', '')})`;
