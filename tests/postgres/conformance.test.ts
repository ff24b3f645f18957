import { describe, test } from 'vitest';
import { sessionStoreConformance } from '../../src/testing/index.ts';
import { usePool } from './place.ts';

const { pool, newPlace } = usePool();

describe('the Postgres store', () => {
  test.each(
    sessionStoreConformance(() => {
      const { schema, open } = newPlace();
      return Promise.resolve({
        open: () => Promise.resolve(open()),
        dispose: async () => {
          await pool().query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        },
      });
    }),
  )('$port: $name', ({ run }) => run());
});
