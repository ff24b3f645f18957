import type { Clock } from '../../lib/index.ts';
import { checkKeys, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
import type { PostgresPool } from './postgres-pool.ts';

/** The database that holds the sessions. */
export interface PostgresStoreOptions {
  /** A pool of pg: `new Pool({ connectionString })`. */
  readonly pool: PostgresPool;
  /** Postgres schema of the store's tables; created if there is none. @default 'stepline' */
  readonly schema?: string;
  /** Time to wait for a server that cannot be reached, does not answer or holds a lock; then what was asked for is refused. @default 10_000 */
  readonly timeoutMs?: number;
  /** True if the pool is the store's alone, and ends when the store is closed. @default false */
  readonly endsPool?: boolean;
  /** Clock for waits. @default the machine's clock */
  readonly clock?: Clock;
}

/** Options, checked and complete. */
export type ParsedOptions = Required<PostgresStoreOptions>;

const keys = {
  known: ['pool', 'schema', 'timeoutMs', 'endsPool', 'clock'],
  hints: {
    connectionString: 'Pass a pool: postgresStore({ pool: new Pool({ connectionString }) }).',
    url: 'Pass a pool: postgresStore({ pool: new Pool({ connectionString: url }) }).',
    client: 'Pass a pool: a single connection cannot be replaced when it is lost.',
    table: 'All tables of the store are in one Postgres schema: schema.',
  },
};

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'function');

const isPool = (value: unknown): value is PostgresPool => hasMethods(value, ['connect', 'end']);
const isClock = (value: unknown): value is Clock => hasMethods(value, ['now', 'monotonic', 'schedule']);

function parseSchema(schema: unknown): string {
  assert(typeof schema === 'string', `The schema of postgresStore() must be text, not ${typeof schema}.`);
  // It becomes part of every statement.
  assert(
    /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema) && !schema.toLowerCase().startsWith('pg_'),
    `"${schema}" cannot be the schema of postgresStore(): use letters, digits and _, 63 at most, and no pg_ in front.`,
  );
  return schema;
}

/** Refuses options that a store could not work with. */
export function parseOptions(given: unknown): ParsedOptions {
  const found = Array.isArray(given) ? 'a list' : given === null ? 'null' : typeof given;
  assert(isRecord(given), `postgresStore() takes { pool }, not ${found}.`);
  checkKeys('postgresStore()', given, keys);
  const { pool, schema = 'stepline', timeoutMs = 10_000, endsPool = false, clock = systemClock } = given;
  assert(pool !== undefined, 'postgresStore() needs a pool: postgresStore({ pool: new Pool({ connectionString }) }).');
  assert(isPool(pool), 'The pool of postgresStore() must be one of pg, with connect() and end().');
  assert(
    typeof timeoutMs === 'number' && Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs < 2 ** 31,
    `timeoutMs of postgresStore() must be a whole number of 1 or more, not ${typeof timeoutMs === 'number' ? timeoutMs : typeof timeoutMs}.`,
  );
  assert(typeof endsPool === 'boolean', `endsPool of postgresStore() must be true or false, not ${typeof endsPool}.`);
  assert(isClock(clock), 'The clock of postgresStore() must have now(), monotonic() and schedule().');
  return { pool, schema: parseSchema(schema), timeoutMs, endsPool, clock };
}
