import type { Clock } from '../../lib/index.ts';
import type { Dialect } from '../table/index.ts';
import { raw, sql } from '../table/index.ts';
import { readSafely } from './tables.ts';

const most = Number.MAX_SAFE_INTEGER;
// A number above this is damaged, and must not be counted on from.
const mostNum = 2 ** 52;

// A number is never given twice, even if the row that had it is lost.
const lastNum = `max(coalesce((SELECT max(num) FROM @sessions), 0), coalesce((SELECT max(session) FROM @log), 0),
  coalesce((SELECT max(session) FROM @heads), 0), coalesce((SELECT max(num) FROM @tombstones WHERE num < ${mostNum}), 0))`;

/** The words of SQLite. */
export const createDialect = (clock: Clock): Dialect => ({
  now: () => clock.now(),
  lastNum,
  nextNums: (
    count,
  ) => sql`WITH RECURSIVE numbered(num) AS (SELECT ${raw(lastNum)} + 1 UNION ALL SELECT num + 1 FROM numbered LIMIT ${count})
    SELECT num FROM numbered`,
  findLost: (lowest, highest) => sql`SELECT session AS num, session_id AS id FROM @log WHERE session_id IS NOT NULL
    AND session BETWEEN ${lowest} AND ${highest} AND session NOT IN (SELECT num FROM @sessions)
    AND session_id NOT IN (SELECT id FROM @sessions WHERE id IS NOT NULL)`,
  mailKey: 'session_id',
  wakes: false,
  lock: '',
  skipLocked: '',
  joinWorker: (info, room) => sql`INSERT INTO @workers (id, room, beats, beat_at, body)
    VALUES (${info.id}, ${room}, 1, ${clock.now()}, ${JSON.stringify(info)}) ON CONFLICT (id) DO UPDATE
    SET room = excluded.room, beats = 1, beat_at = excluded.beat_at, body = excluded.body RETURNING id`,
  beatWorker: (id, room) =>
    sql`UPDATE @workers SET room = ${room}, beats = beats + 1, beat_at = ${clock.now()} WHERE id = ${id} RETURNING id`,
  listWorkers:
    () => sql`SELECT id, body, ${raw(readSafely(['room', 'beats']))}, max(min(${clock.now()} - beat_at, ${most}), ${-most}) AS silent_ms,
    (SELECT count(*) FROM @heads WHERE heads.owner = workers.id) AS sessions FROM @workers ORDER BY workers.rowid`,
});
