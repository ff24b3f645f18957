import type { Clock } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
import type { PostgresPool } from './postgres-pool.ts';

/** The database that holds the sessions. */
export interface PostgresStoreOptions {
  /** A pool of pg: `new Pool({ connectionString })`. */
  readonly pool: PostgresPool;
  /** A pool of direct connections, used for `LISTEN` alone: `pool` may then go through a pooler in transaction mode. @default pool */
  readonly listenPool?: PostgresPool;
  /** Postgres schema of the store's tables; created if there is none. @default 'stepline' */
  readonly schema?: string;
  /** Time to wait for a server that cannot be reached, does not answer or holds a lock; then what was asked for is refused. @default 10_000 */
  readonly timeoutMs?: number;
  /** True if the pools are the store's alone, and end when the store is closed. @default false */
  readonly endsPool?: boolean;
  /** Clock for waits. @default the machine's clock */
  readonly clock?: Clock;
}

/** Options, checked and complete. */
export type ParsedOptions = Required<PostgresStoreOptions>;

const knownOptions = ['pool', 'listenPool', 'schema', 'timeoutMs', 'endsPool', 'clock'];

function assert(isValid: boolean, message: string): asserts isValid {
  if (!isValid) throw new InvalidArgumentError(message);
}

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'function');

const isPool = (value: unknown): value is PostgresPool => hasMethods(value, ['connect', 'end']);
const isClock = (value: unknown): value is Clock => hasMethods(value, ['now', 'monotonic', 'schedule']);

function parseSchema(schema: unknown): string {
  assert(typeof schema === 'string', `postgresStore(): schema must be a string, not ${describeValue(schema)}.`);
  // It becomes part of every statement.
  assert(
    /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema) && !schema.toLowerCase().startsWith('pg_'),
    `postgresStore(): schema is ${describeValue(schema)}. Use at most 63 letters, digits and "_", not starting with a digit or "pg_".`,
  );
  return schema;
}

/** Refuses options that a store could not work with. */
export function parseOptions(given: unknown): ParsedOptions {
  assert(
    isRecord(given),
    `postgresStore() needs an object with a pool, not ${describeValue(given)}. Pass { pool: new Pool({ connectionString }) }.`,
  );
  checkKeys('postgresStore()', given, knownOptions);
  const { pool, listenPool = pool, schema = 'stepline', timeoutMs = 10_000, endsPool = false, clock = systemClock } = given;
  assert(pool !== undefined, 'postgresStore() needs a pool. Pass { pool: new Pool({ connectionString }) } with Pool from "pg".');
  assert(isPool(pool), `postgresStore(): pool must be a Pool from "pg", not ${describeValue(pool)}.`);
  assert(isPool(listenPool), `postgresStore(): listenPool must be a Pool from "pg", not ${describeValue(listenPool)}.`);
  assert(
    typeof timeoutMs === 'number' && Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs < 2 ** 31,
    `postgresStore(): timeoutMs must be a whole number of 1 or more, not ${describeValue(timeoutMs)}.`,
  );
  assert(typeof endsPool === 'boolean', `postgresStore(): endsPool must be true or false, not ${describeValue(endsPool)}.`);
  assert(isClock(clock), 'postgresStore(): clock must have now(), monotonic() and schedule().');
  return { pool, listenPool, schema: parseSchema(schema), timeoutMs, endsPool, clock };
}
