import { expect, test } from 'vitest';
import { postgresStore } from './index.ts';

const pool = { connect: () => Promise.reject(new Error('not reached')), end: () => Promise.resolve() };

test.each<readonly [string, unknown, string]>([
  ['nothing', undefined, 'postgresStore() takes { pool }, not undefined.'],
  ['an address', 'postgres://localhost', 'postgresStore() takes { pool }, not string.'],
  ['no pool', {}, 'postgresStore() needs a pool: postgresStore({ pool: new Pool({ connectionString }) }).'],
  ['a pool that is not one', { pool: {} }, 'The pool of postgresStore() must be one of pg, with connect() and end().'],
  ['an address as an option', { connectionString: 'x' }, 'Unknown option "connectionString" in postgresStore(). Pass a pool'],
  ['a schema that is not text', { pool, schema: 5 }, 'The schema of postgresStore() must be text, not number.'],
  ['a schema with a quote', { pool, schema: 'a"; DROP' }, 'cannot be the schema of postgresStore(): use letters, digits and _'],
  ['an empty schema', { pool, schema: '' }, 'cannot be the schema of postgresStore()'],
  ['a schema that Postgres reserves', { pool, schema: 'PG_x' }, 'no pg_ in front'],
  ['a schema that is too long', { pool, schema: 'x'.repeat(64) }, '63 at most'],
  ['a strange timeout', { pool, timeoutMs: 0 }, 'timeoutMs of postgresStore() must be a whole number of 1 or more, not 0.'],
  ['a timeout that is not a number', { pool, timeoutMs: '1' }, 'not string.'],
  ['a strange endsPool', { pool, endsPool: 1 }, 'endsPool of postgresStore() must be true or false, not number.'],
  ['a clock that is not one', { pool, clock: {} }, 'The clock of postgresStore() must have now(), monotonic() and schedule().'],
])('%s is refused at once', (_, options, message) => {
  expect(() => postgresStore(options as never)).toThrow(message);
});

test('connects to nothing before it is used', async () => {
  await postgresStore({ pool }).close();
});
