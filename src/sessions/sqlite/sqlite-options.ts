import type { Clock } from '../../lib/index.ts';
import { checkKeys, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
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

const keys = {
  known: ['path', 'database', 'busyTimeoutMs', 'clock'],
  hints: { file: 'The file is called path.', filename: 'The file is called path.', db: 'An open database is called database.' },
};

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

function parsePath(path: unknown): string {
  assert(typeof path === 'string', `The path of sqliteStore() must be text, not ${typeof path}.`);
  assert(path !== '', 'The path of sqliteStore() is empty. Pass the name of a file, or ":memory:".');
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
  const found = Array.isArray(given) ? 'a list' : given === null ? 'null' : typeof given;
  assert(isRecord(given), `sqliteStore() takes a path, { path } or { database }, not ${found}.`);
  checkKeys('sqliteStore()', given, keys);
  const { path, database, busyTimeoutMs = 10_000, clock = systemClock } = given;
  assert(
    typeof busyTimeoutMs === 'number' && Number.isSafeInteger(busyTimeoutMs) && busyTimeoutMs >= 0,
    `busyTimeoutMs of sqliteStore() must be a whole number of 0 or more, not ${typeof busyTimeoutMs === 'number' ? busyTimeoutMs : typeof busyTimeoutMs}.`,
  );
  assert(isClock(clock), 'The clock of sqliteStore() must have now(), monotonic() and schedule().');
  assert(path !== undefined || database !== undefined, 'sqliteStore() needs a path or a database: sqliteStore({ path: "sessions.db" }).');
  assert(path === undefined || database === undefined, 'sqliteStore() takes a path or a database, not both. The database knows its file.');
  if (path !== undefined) return { path: parsePath(path), busyTimeoutMs, clock };
  assert(isDatabase(database), 'The database of sqliteStore() must be an open one of better-sqlite3 or node:sqlite.');
  return { database, busyTimeoutMs, clock };
}
