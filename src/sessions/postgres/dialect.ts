import { InvalidArgumentError } from '../../lib/index.ts';
import type { Dialect } from '../table/index.ts';
import { raw, sql } from '../table/index.ts';
import type { Listener } from './change-feed.ts';
import { listenerStart, serverStart } from './change-feed.ts';
import { isStorable } from './check-texts.ts';

/** SQL for the time on the clock of the server, in milliseconds since the epoch. */
export const serverTime = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

/** The words of Postgres. `getListener`: returns the connection of the store that listens. */
export const createDialect = (getListener: () => Listener | undefined): Dialect => ({
  now: () => raw(serverTime),
  lastNum: 'greatest(0, (SELECT max(num) FROM @sessions), (SELECT max(session) FROM @log))',
  nextNums: (count) => sql`SELECT nextval('@session_num') AS num FROM generate_series(1, ${count})`,
  // Deleted sessions leave gaps too: only the gaps are looked at.
  findLost: (lowest, highest) => sql`SELECT l.session AS num, l.session_id AS id
    FROM generate_series(${lowest}::bigint, ${highest}::bigint) AS gap(num) JOIN @log l ON l.session = gap.num AND l.session_id IS NOT NULL
    WHERE NOT EXISTS (SELECT 1 FROM @sessions WHERE num = gap.num) AND NOT EXISTS (SELECT 1 FROM @sessions WHERE id = l.session_id)`,
  numberFeed: 'SELECT @feed_number() AS more',
  mailKey: 'session',
  wakes: true,
  lock: 'ORDER BY session FOR UPDATE',
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  joinWorker: (info, room) => {
    if (!isStorable(info.id) || Buffer.byteLength(info.id) > 2000)
      throw new InvalidArgumentError('The id of a worker must be text that Postgres can store, of 2000 bytes at most.');
    const { pid = null, start = null, serverStart: server = null } = getListener() ?? {};
    return sql`INSERT INTO @workers (id, room, body, listener_pid, listener_start, server_start, beats, beat_at)
      VALUES (${info.id}, ${room}, ${JSON.stringify(info)}, ${pid}, ${start}, ${server}, 1, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET room = excluded.room, body = excluded.body, listener_pid = excluded.listener_pid,
        listener_start = excluded.listener_start, server_start = excluded.server_start, beats = 1, beat_at = excluded.beat_at RETURNING id`;
  },
  beatWorker: (id, room) => {
    const { pid = null, start = null, serverStart: server = null } = getListener() ?? {};
    return sql`UPDATE @workers SET room = ${room}, beats = beats + 1, beat_at = clock_timestamp(),
      listener_pid = ${pid}, listener_start = ${start}, server_start = ${server} WHERE id = ${id} RETURNING id`;
  },
  // A server that was started since, or another one that took its place, cannot know the connections of workers.
  listWorkers: () =>
    raw(`SELECT w.id, w.body, w.room, w.beats,
      greatest(0, extract(epoch FROM clock_timestamp() - w.beat_at) * 1000)::double precision AS silent_ms,
      CASE WHEN w.server_start = ${serverStart} THEN EXISTS (
        SELECT 1 FROM pg_stat_activity a
          WHERE a.pid = w.listener_pid AND (a.backend_start IS NULL OR ${listenerStart('a')} = w.listener_start)) END AS is_connected,
      (SELECT count(*) FROM @heads h WHERE h.owner = w.id) AS sessions FROM @workers w ORDER BY w.id`),
});
