// Places for stores on the shared server: each in a Postgres schema of its own.
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import type { PostgresStoreOptions } from '../../src/sessions/postgres/index.ts';
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import type { SessionStore } from '../../src/sessions/index.ts';
import type { Pool } from './server.ts';
import { openPool } from './server.ts';

let count = 0;

/** A name for a Postgres schema that no other test uses. */
export const newSchema = (): string => `test_${String(process.pid)}_${String((count += 1))}`;

export interface PostgresPlace {
  readonly schema: string;
  /** Another store on the same sessions. */
  readonly open: (more?: Partial<PostgresStoreOptions>) => SessionStore;
}

/** Opens a pool for the tests of a file. */
export function usePool(): {
  readonly pool: () => Pool;
  readonly newPlace: () => PostgresPlace;
  /** A place whose stores are closed when the test ends. */
  readonly newClosingPlace: () => PostgresPlace;
} {
  let pool: Pool | undefined;
  const getPool = (): Pool => {
    if (pool === undefined) throw new Error('The pool is opened before the tests of a file.');
    return pool;
  };
  beforeAll(async () => {
    pool = await openPool(inject('postgresUrl'));
  });
  afterAll(() => pool?.end());
  const newPlace = (): PostgresPlace => {
    const schema = newSchema();
    return { schema, open: (more = {}) => postgresStore({ pool: getPool(), schema, ...more }) };
  };
  return {
    pool: getPool,
    newPlace,
    newClosingPlace: () => {
      const { schema, open } = newPlace();
      return {
        schema,
        open: (more) => {
          const store = open(more);
          onTestFinished(() => store.close());
          return store;
        },
      };
    },
  };
}
