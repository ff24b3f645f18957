import type { Clock } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

interface CommonOptions {
  /** Time to wait for another process that holds the file; then what was asked for is refused. @default 10_000 */
  readonly busyTimeoutMs?: number;
  /** Clock for that wait. @default the machine's clock */
  readonly clock?: Clock;
}

/** The file or database that holds the sessions. */
export type SqliteStoreOptions = CommonOptions &
  (
    | {
        /** The file; created if there is none. Needs `node:sqlite`. */
        readonly path: string;
      }
    | {
        /** An open database of better-sqlite3 or node:sqlite. It is the store's alone from now on, and closed with it. */
        readonly database: SqliteDatabase;
      }
  );

/** Options, checked and complete. */
export type ParsedOptions = Required<CommonOptions> & ({ readonly path: string } | { readonly database: SqliteDatabase });

const knownOptions = ['path', 'database', 'busyTimeoutMs', 'clock'];

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

function parsePath(path: unknown): string {
  assert(typeof path === 'string', `sqliteStore(): path must be a string, not ${describeValue(path)}.`);
  assert(path !== '', 'sqliteStore(): path is empty. Pass the name of a file, or ":memory:".');
  return path;
}

const isDatabase = (value: unknown): value is SqliteDatabase =>
  typeof value === 'object' &&
  value !== null &&
  ['exec', 'prepare', 'close'].every((name) => typeof Reflect.get(value, name) === 'function');

const isClock = (value: unknown): value is Clock =>
  isRecord(value) && ['now', 'monotonic', 'schedule'].every((name) => typeof value[name] === 'function');

/** Refuses options that a store could not work with. Text is the path of the file. */
export function parseOptions(options: SqliteStoreOptions | string): ParsedOptions {
  const given: unknown = typeof options === 'string' ? { path: options } : options;
  assert(isRecord(given), `sqliteStore() needs a path, { path } or { database }, not ${describeValue(given)}.`);
  checkKeys('sqliteStore()', given, knownOptions);
  const { path, database, busyTimeoutMs = 10_000, clock = systemClock } = given;
  assert(
    typeof busyTimeoutMs === 'number' && Number.isSafeInteger(busyTimeoutMs) && busyTimeoutMs >= 0,
    `sqliteStore(): busyTimeoutMs must be a whole number of 0 or more, not ${describeValue(busyTimeoutMs)}.`,
  );
  assert(isClock(clock), 'sqliteStore(): clock must have now(), monotonic() and schedule().');
  assert(path !== undefined || database !== undefined, 'sqliteStore() needs a path or a database. Pass { path: "sessions.db" }.');
  assert(path === undefined || database === undefined, 'sqliteStore() got both a path and a database. Pass one of them.');
  if (path !== undefined) return { path: parsePath(path), busyTimeoutMs, clock };
  assert(
    isDatabase(database),
    `sqliteStore(): database must be an open database of better-sqlite3 or node:sqlite, not ${describeValue(database)}.`,
  );
  return { database, busyTimeoutMs, clock };
}
