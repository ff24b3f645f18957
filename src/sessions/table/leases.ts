// Workers, and which of them owns a session.
// Owns:     joining, signs of life, and freeing.
// Does not: claim: how that is fair and waits for nobody is the database's; or decide when a worker is gone.
// S2. A worker that is removed owns nothing: its sessions are looked for once it is gone.
import { cleanText, isRecord, omitUndefined } from '../../lib/index.ts';
import type { Leases, StoredRow, StoredWorker, WorkerInfo } from '../index.ts';
import type { Dialect } from './dialect.ts';
import type { Changed } from './driver.ts';
import type { Statement, TableWork } from './statement.ts';
import { ask, listWanted, raw, sql } from './statement.ts';

const isText = (value: unknown): value is string => typeof value === 'string';
const listTexts = (rows: readonly StoredRow[], column: string): readonly string[] => rows.map((row) => row[column]).filter(isText);
const returnsId = raw('(SELECT id FROM @sessions WHERE num = heads.session) AS id');

/** Adds a worker, and takes back what was counted against the id that it had before. */
export function* join(dialect: Dialect, info: WorkerInfo, { room, before }: Parameters<Leases['join']>[1]): TableWork<Changed<void>> {
  const { forgiven } = yield* ask(
    {
      joined: dialect.joinWorker(info, room),
      forgiven: sql`UPDATE @heads SET attempts = CASE WHEN heads.attempts > 0 THEN heads.attempts - 1 ELSE 0 END, blamed = NULL
        FROM page WHERE heads.session = page.session RETURNING ${returnsId}`,
    },
    sql`SELECT session FROM @heads WHERE blamed = ${before ?? null} ${raw(dialect.lock)}`,
  );
  return { value: undefined, sessionIds: listTexts(forgiven, 'id') };
}

/** Shows that a worker is alive. Returns false if it is not known. */
export function* beat(dialect: Dialect, worker: string, room: number): TableWork<Changed<boolean>> {
  return { value: (yield* ask({ known: dialect.beatWorker(worker, room) })).known.length === 1 };
}

/** Reads what a worker has said of itself. Undefined if its row is damaged. */
function readInfo({ id, body }: StoredRow): WorkerInfo | undefined {
  try {
    const info: unknown = JSON.parse(String(body));
    const isInfo = isRecord(info) && typeof info['joinedAt'] === 'number' && Array.isArray(info['agents']) && isText(id);
    // Holds: a worker wrote it, and nothing but text is read of its agents.
    return isInfo ? ({ ...info, id } as unknown as WorkerInfo) : undefined;
  } catch {
    return undefined;
  }
}

/** Lists the workers by when they joined, without damaged ones. */
export function* listWorkers(dialect: Dialect): TableWork<readonly StoredWorker[]> {
  const { rows } = yield* ask({ rows: dialect.listWorkers() });
  const workers = rows.flatMap((row): StoredWorker | readonly [] => {
    const info = readInfo(row);
    const [room, beats, silentMs, sessions] = ['room', 'beats', 'silent_ms', 'sessions'].map((column) => Number(row[column]));
    const isConnected = typeof row['is_connected'] === 'boolean' ? row['is_connected'] : undefined;
    // Holds: there are as many columns as names.
    return info === undefined ? [] : (omitUndefined({ ...info, room, beats, silentMs, isConnected, sessions }) as StoredWorker);
  });
  return workers.sort((one, other) => one.joinedAt - other.joinedAt);
}

interface Freeing {
  readonly which: Statement;
  /** True if the loss of the owner counts. */
  readonly blames: boolean;
}

function* freeSessions(dialect: Dialect, { which, blames }: Freeing): TableWork<Changed<number>> {
  const blame = `, attempts = CASE WHEN heads.is_stepping = 1 THEN heads.attempts + 1 ELSE heads.attempts END,
    blamed = CASE WHEN heads.is_stepping = 1 THEN heads.owner ELSE heads.blamed END`;
  const { freed } = yield* ask(
    {
      freed: sql`UPDATE @heads SET fence = heads.fence + 1, owner = NULL, is_ready = 1, ready_at = ${dialect.now()}, is_stepping = 0
        ${raw(blames ? blame : '')} FROM page WHERE heads.session = page.session
        RETURNING last, (SELECT agent_id FROM @sessions WHERE num = heads.session) AS agent, ${returnsId}`,
    },
    sql`SELECT session FROM @heads WHERE ${which} ${raw(dialect.lock)}`,
  );
  const sessionIds = listTexts(freed, 'id');
  if (freed.length === 0) return { value: 0 };
  const waking = freed.map(({ agent, last }) => ({ agentName: String(agent), ...(isText(last) && { last }) }));
  return { value: freed.length, sessionIds, change: { sessionIds, hasMail: true }, waking };
}

const ownedBy = (worker: string): Statement => sql`owner = ${worker}`;

/** Frees the sessions of a worker that is gone, unless it has given a sign of life since; without one, those of workers that are not known. */
export function* free(dialect: Dialect, gone: Parameters<Leases['free']>[0]): TableWork<Changed<number>> {
  if (gone !== undefined) {
    const { worker, beats } = gone;
    const { removed } = yield* ask({ removed: sql`DELETE FROM @workers WHERE id = ${worker} AND beats = ${beats} RETURNING id` });
    return removed.length === 0 ? { value: 0 } : yield* freeSessions(dialect, { which: ownedBy(worker), blames: true });
  }
  // A worker whose row is damaged joins again.
  const damaged = (yield* ask({ rows: dialect.listWorkers() })).rows.filter((row) => readInfo(row) === undefined);
  const ids = listTexts(damaged, 'id').map((id) => ({ id }));
  if (damaged.length > 0)
    yield* ask({ removed: sql`DELETE FROM @workers WHERE id IS NULL OR id IN (SELECT w.id FROM ${listWanted(ids)}) RETURNING id` });
  // A session that was claimed meanwhile has another fence.
  const which = raw(`owner IS NOT NULL AND (session, fence) IN (SELECT o.session, o.fence FROM @heads o
    WHERE o.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM @workers WHERE workers.id = o.owner))`);
  return yield* freeSessions(dialect, { which, blames: true });
}

/** Gives sessions back: those with these ids, or all, and then the worker is removed. Without its row it may still own something. */
export function* leave(dialect: Dialect, worker: string, sessionIds?: readonly string[]): TableWork<Changed<unknown>> {
  if (sessionIds === undefined) yield* ask({ removed: sql`DELETE FROM @workers WHERE id = ${worker} RETURNING id` });
  const ids = sessionIds?.filter((id) => cleanText(id) === id).map((id) => ({ id }));
  const which =
    ids === undefined
      ? ownedBy(worker)
      : sql`${ownedBy(worker)} AND session IN (SELECT num FROM @sessions WHERE id IN (SELECT w.id FROM ${listWanted(ids)}))`;
  return yield* freeSessions(dialect, { which, blames: false });
}
