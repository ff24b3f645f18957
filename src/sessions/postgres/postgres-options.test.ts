import { expect, test } from 'vitest';
import { postgresStore } from './index.ts';

const pool = { connect: () => Promise.reject(new Error('not reached')), end: () => Promise.resolve() };

test.each<readonly [string, unknown, string]>([
  ['nothing', undefined, 'postgresStore() needs an object with a pool, not undefined.'],
  ['an address', 'postgres://localhost', 'postgresStore() needs an object with a pool, not "postgres://localhost".'],
  ['no pool', {}, 'postgresStore() needs a pool. Pass { pool: new Pool({ connectionString }) } with Pool from "pg".'],
  ['a pool that is not one', { pool: {} }, 'postgresStore(): pool must be a Pool from "pg", not an object.'],
  ['a listenPool that is not one', { pool, listenPool: 'x' }, 'postgresStore(): listenPool must be a Pool from "pg", not "x".'],
  ['an address as an option', { connectionString: 'x' }, 'Unknown option "connectionString" in postgresStore(). Use pool'],
  ['a schema that is not text', { pool, schema: 5 }, 'postgresStore(): schema must be a string, not 5.'],
  ['a schema with a quote', { pool, schema: 'a"; DROP' }, 'Use at most 63 letters, digits and "_"'],
  ['an empty schema', { pool, schema: '' }, 'postgresStore(): schema is'],
  ['a schema that Postgres reserves', { pool, schema: 'PG_x' }, 'not starting with a digit or "pg_"'],
  ['a schema that is too long', { pool, schema: 'x'.repeat(64) }, 'at most 63'],
  ['a strange timeout', { pool, timeoutMs: 0 }, 'postgresStore(): timeoutMs must be a whole number of 1 or more, not 0.'],
  ['a timeout that is not a number', { pool, timeoutMs: '1' }, 'not "1".'],
  ['a strange endsPool', { pool, endsPool: 1 }, 'postgresStore(): endsPool must be true or false, not 1.'],
  ['a clock that is not one', { pool, clock: {} }, 'postgresStore(): clock must have now(), monotonic() and schedule().'],
])('%s is refused at once', (_, options, message) => {
  expect(() => postgresStore(options as never)).toThrow(message);
});

test('connects to nothing before it is used', async () => {
  await postgresStore({ pool }).close();
});
