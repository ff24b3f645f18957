// Workers, and which of them owns a session.
// Owns:     joining, signs of life, claiming and freeing, by the clock of the server.
// Does not: decide when a worker is gone, or write to a session.
// S1. All of it can be run again if nobody knows whether it was committed. A worker keeps the answer to its last claim, so that none is
//     lost: a session that nobody knows to be claimed would be run by nobody.
// S2. A worker that is removed owns nothing: whoever makes it an owner locks its row, and its sessions are looked for once it is gone.
// S3. Claims never wait for a session: one that is locked is left to others.
import { InvalidArgumentError, omitUndefined, systemIds } from '../../lib/index.ts';
import type { ClaimedSessions, ClaimQuery, Leases, StoreChange, StoredRow, StoredWorker, WorkerInfo } from '../index.ts';
import { mostUrgent, stickyMs } from '../index.ts';
import type { Listener } from './change-feed.ts';
import { listenerStart, serverStart, toChannel, toPayload } from './change-feed.ts';
import { isStorable } from './check-texts.ts';
import type { Query } from './connection.ts';
import { queryJson, readRows } from './connection.ts';
import type { Sql } from './sql.ts';
import { serverTime } from './sql.ts';
import { inSchema } from './tables.ts';
import { chooseWorkers, readWorkers, selectWorkers } from './wake.ts';

/** The store that leases belong to. */
export interface LeasePlace {
  readonly schema: string;
  readonly sql: Sql;
  /** Runs work on a connection, again if the connection is lost. */
  readonly run: <Value>(work: (query: Query) => Promise<Value>) => Promise<Value>;
  /** Returns the connection of the store that listens. */
  readonly getListener: () => Listener | undefined;
}

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

const toListenerValues = (listener: Listener | undefined): readonly unknown[] => [
  listener?.pid ?? null,
  listener?.start ?? null,
  listener?.serverStart ?? null,
];

async function join(
  query: Query,
  { schema, getListener }: LeasePlace,
  [worker, room, before]: readonly [WorkerInfo, number, string | undefined],
): Promise<void> {
  const [workers, heads] = [inSchema(schema, 'workers'), inSchema(schema, 'heads')];
  await query(
    `WITH
      joined AS (
        INSERT INTO ${workers} (id, room, body, listener_pid, listener_start, server_start, beats, beat_at)
          VALUES ($1, $2, $3, $4::int, $5, $6, 1, clock_timestamp())
          ON CONFLICT (id) DO UPDATE SET room = excluded.room, body = excluded.body, listener_pid = excluded.listener_pid,
            listener_start = excluded.listener_start, server_start = excluded.server_start, beats = 1, beat_at = excluded.beat_at
      ),
      blamed AS MATERIALIZED (SELECT session FROM ${heads} WHERE blamed = $7 ORDER BY session FOR UPDATE)
      UPDATE ${heads} h SET attempts = greatest(0, h.attempts - 1), blamed = NULL FROM blamed b WHERE h.session = b.session`,
    [worker.id, room, JSON.stringify(worker), ...toListenerValues(getListener()), before ?? null],
  );
}

async function beat(query: Query, { schema, getListener }: LeasePlace, [worker, room]: readonly [string, number]): Promise<boolean> {
  const found = await query(
    `UPDATE ${inSchema(schema, 'workers')} SET room = $2, beats = beats + 1, beat_at = clock_timestamp(),
      listener_pid = $3::int, listener_start = $4, server_start = $5 WHERE id = $1 RETURNING 1`,
    [worker, room, ...toListenerValues(getListener())],
  );
  return found.length === 1;
}

function toStoredWorker({ body, room, beats, silentMs, isConnected, sessions }: StoredRow): StoredWorker {
  return omitUndefined({
    // Holds: it is stored as it was given.
    ...(JSON.parse(String(body)) as WorkerInfo),
    ...{ room: Number(room), beats: Number(beats), silentMs: Number(silentMs), sessions: Number(sessions) },
    isConnected: typeof isConnected === 'boolean' ? isConnected : undefined,
  });
}

/** Lists workers. A server that was started since, or another one that took its place, cannot know their connections. */
async function listWorkers(query: Query, { schema }: LeasePlace): Promise<readonly StoredWorker[]> {
  const found = await queryJson(
    query,
    `SELECT json_build_object('workers', (
      SELECT json_agg(json_build_object(
        'body', w.body, 'room', w.room, 'beats', w.beats,
        'silentMs', greatest(0, extract(epoch FROM clock_timestamp() - w.beat_at) * 1000)::double precision,
        'isConnected', CASE WHEN w.server_start = ${serverStart} THEN EXISTS (
          SELECT 1 FROM pg_stat_activity a
            WHERE a.pid = w.listener_pid AND (a.backend_start IS NULL OR ${listenerStart('a')} = w.listener_start)) END,
        'sessions', (SELECT count(*) FROM ${inSchema(schema, 'heads')} h WHERE h.owner = w.id)
      ) ORDER BY w.id) FROM ${inSchema(schema, 'workers')} w
    ))::text AS found`,
  );
  return readRows(found['workers'])
    .map(toStoredWorker)
    .sort((one, other) => one.joinedAt - other.joinedAt);
}

interface Freeing {
  /** SQL for the sessions to free: selects `session` from heads `h`, and locks them. */
  readonly owned: string;
  readonly values: readonly unknown[];
  /** True if the loss of the owner counts. */
  readonly blames: boolean;
}

/** Sessions that were freed. */
interface Freed {
  readonly count: number;
  /** Absent if there are none. */
  readonly change?: StoreChange;
}

async function freeSessions(query: Query, schema: string, { owned, values, blames }: Freeing): Promise<Freed> {
  const blame = `, attempts = h.attempts + h.is_stepping, blamed = CASE WHEN h.is_stepping = 1 THEN h.owner ELSE h.blamed END`;
  const found = await queryJson(
    query,
    `WITH
      owned AS MATERIALIZED (${owned} ORDER BY h.session FOR UPDATE OF h),
      freed AS (
        UPDATE ${inSchema(schema, 'heads')} h
          SET owner = NULL, fence = h.fence + 1, is_ready = 1, ready_at = ${serverTime}, is_stepping = 0${blames ? blame : ''}
          FROM owned WHERE h.session = owned.session RETURNING h.session, h.last
      )
      SELECT json_build_object(
        'count', (SELECT count(*) FROM freed),
        'sessions', (SELECT json_agg(json_build_object('id', s.id, 'agent', s.agent_id, 'last', f.last))
          FROM freed f JOIN ${inSchema(schema, 'sessions')} s ON s.num = f.session),
        'workers', ${selectWorkers(schema)}
      )::text AS found`,
    [...values],
  );
  const sessions = readRows(found['sessions']);
  const waking = sessions.map(({ agent, last }) => ({ agentName: String(agent), last: typeof last === 'string' ? last : undefined }));
  const workers = chooseWorkers(waking, readWorkers(found['workers']));
  const change = omitUndefined({ sessionIds: sessions.map(({ id }) => String(id)), hasMail: true, workers });
  return { count: Number(found['count']), ...(sessions.length > 0 && { change }) };
}

async function announce(query: Query, schema: string, { change }: Freed): Promise<void> {
  if (change !== undefined) await query('SELECT pg_notify($1, $2)', [toChannel(schema), toPayload(change)]);
}

const ownedBy = (schema: string): string => `SELECT h.session FROM ${inSchema(schema, 'heads')} h WHERE h.owner = $1`;

/** Removes a worker, and then frees its sessions: whoever was making it their owner has ended by then. */
async function removeWorker(
  query: Query,
  { schema, sql }: LeasePlace,
  { worker, beats, blames }: { readonly worker: string; readonly beats?: number; readonly blames: boolean },
): Promise<number> {
  await query(sql.begin);
  const found = await query(
    `DELETE FROM ${inSchema(schema, 'workers')} WHERE id = $1 AND ($2::bigint IS NULL OR beats = $2::bigint) RETURNING 1`,
    [worker, beats ?? null],
  );
  // Without its row it may still own something, if it leaves a second time.
  const isGone = found.length === 1 || beats === undefined;
  const freed = isGone ? await freeSessions(query, schema, { owned: ownedBy(schema), values: [worker], blames }) : { count: 0 };
  await announce(query, schema, freed);
  await query('COMMIT');
  return freed.count;
}

/** Frees the sessions of owners that are not known. One that was claimed meanwhile has another fence. */
async function freeOrphans(query: Query, { schema }: LeasePlace): Promise<number> {
  const [heads, workers] = [inSchema(schema, 'heads'), inSchema(schema, 'workers')];
  const owned = `SELECT h.session FROM ${heads} h
    JOIN (SELECT o.session, o.fence FROM ${heads} o
      WHERE o.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${workers} w WHERE w.id = o.owner) OFFSET 0) orphan
    ON h.session = orphan.session AND h.fence = orphan.fence AND h.owner IS NOT NULL`;
  const freed = await freeSessions(query, schema, { owned, values: [], blames: true });
  await announce(query, schema, freed);
  return freed.count;
}

async function giveBack(query: Query, { schema }: LeasePlace, [worker, sessionIds]: readonly [string, readonly string[]]): Promise<void> {
  const nums = `SELECT num FROM ${inSchema(schema, 'sessions')} WHERE id = ANY ($2::text[])`;
  const owned = `${ownedBy(schema)} AND h.session IN (${nums})`;
  const freed = await freeSessions(query, schema, { owned, values: [worker, toArray(sessionIds)], blames: false });
  await announce(query, schema, freed);
}

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
  const text = `
    WITH
      claimable AS (
        SELECT h.*, s.tenant FROM (
          SELECT session, fence, last, ready_at, attempts, is_urgent FROM ${heads} WHERE is_ready = 1 AND owner IS NULL
          UNION ALL
          SELECT session, fence, last, ready_at, attempts, is_urgent FROM ${heads}
            WHERE is_ready = 0 AND owner IS NULL AND session IN (SELECT num FROM ${sessions} WHERE wake_at <= $5::double precision)
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
          JOIN ${sessions} s ON s.num = (c.value ->> 'session')::bigint),
      'nextWakeAt', (
        SELECT s.wake_at FROM ${sessions} s JOIN ${heads} h ON h.session = s.num
          WHERE s.wake_at > $5::double precision AND h.is_ready = 0 AND h.owner IS NULL AND ${fits}
          ORDER BY s.wake_at LIMIT 1)
    )::text AS found`;
  return [text, values];
}

async function claim(
  query: Query,
  { schema }: LeasePlace,
  [asked, attempt]: readonly [ClaimQuery, ClaimAttempt],
): Promise<ClaimedSessions> {
  const found = await queryJson(query, ...claimText(schema, asked, attempt));
  if (found['isJoined'] !== true) return { sessions: [] };
  const sessions = readRows(found['sessions']).map((row) => ({
    ...{ sessionId: String(row['sessionId']), fence: Number(row['fence']), head: Number(row['head']) },
    ...{ attempts: Number(row['attempts']), hasMail: row['hasMail'] === true },
  }));
  const nextWakeAt = found['nextWakeAt'];
  return { sessions, ...(typeof nextWakeAt === 'number' && { nextWakeAt }) };
}

/** Creates the leases of a store. */
export function createLeases(place: LeasePlace): Leases {
  const { run } = place;
  /** Claims come one after the other: a worker keeps one answer. */
  let claiming: Promise<unknown> = Promise.resolve();
  /** Claims that may have been committed, by their workers: the next one asks for their answers first. */
  const claimIds = new Map<string, string>();
  async function claimNext(asked: ClaimQuery): Promise<ClaimedSessions> {
    if (!isStorable(asked.worker)) return run(async () => ({ sessions: [] }));
    let isRepeated = claimIds.has(asked.worker);
    const claimId = claimIds.get(asked.worker) ?? systemIds();
    claimIds.set(asked.worker, claimId);
    const claimed = await run((query) => {
      const attempt = { token: claimId, isRepeated };
      isRepeated = true;
      return claim(query, place, [asked, attempt]);
    });
    claimIds.delete(asked.worker);
    return claimed;
  }
  return {
    join: async (worker, { room, before }) => {
      if (!isStorable(worker.id) || Buffer.byteLength(worker.id) > 2000)
        throw new InvalidArgumentError('The id of a worker must be text that Postgres can store, of 2000 bytes at most.');
      await run((query) => join(query, place, [worker, room, before !== undefined && isStorable(before) ? before : undefined]));
    },
    beat: async (worker, room) => run(async (query) => isStorable(worker) && beat(query, place, [worker, room])),
    workers: () => run((query) => listWorkers(query, place)),
    free: (gone) =>
      run(async (query) => {
        if (gone === undefined) return freeOrphans(query, place);
        return isStorable(gone.worker) ? removeWorker(query, place, { ...gone, blames: true }) : 0;
      }),
    claim: (asked) => {
      const work = (): Promise<ClaimedSessions> => claimNext(asked);
      const claimed = claiming.then(work, work);
      claiming = claimed;
      return claimed;
    },
    leave: (worker, sessionIds) =>
      run(async (query) => {
        if (!isStorable(worker)) return;
        if (sessionIds === undefined) await removeWorker(query, place, { worker, blames: false });
        else await giveBack(query, place, [worker, sessionIds]);
      }),
  };
}
