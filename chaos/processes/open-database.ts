// The database of a run: as a store, and as rows that are read past the store.
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import type { SessionStore } from '../../src/sessions/index.ts';
import type { PostgresPool } from '../../src/sessions/postgres/index.ts';
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { Database } from './orders.ts';

interface Pool extends PostgresPool {
  query(text: string): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

export interface OpenedDatabase {
  readonly store: SessionStore;
  /** Runs a query on the tables themselves. Tries again while the server cannot be reached. */
  readonly query: (toSql: (table: (name: string) => string) => string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Closes the store and everything under it. */
  readonly close: () => Promise<void>;
}

function openSqlite(path: string): OpenedDatabase {
  const store = sqliteStore({ path });
  return {
    store,
    query: async (toSql) => {
      const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
      try {
        return database.prepare(toSql((name) => name)).all();
      } finally {
        database.close();
      }
    },
    close: () => store.close(),
  };
}

async function openPostgres({ url, schema, pg }: Extract<Database, { readonly type: 'postgres' }>): Promise<OpenedDatabase> {
  // Holds: that is what pg exports.
  const { default: loaded } = (await import(pathToFileURL(pg).href)) as { default: { Pool: new (options: object) => Pool } };
  const pool = new loaded.Pool({ connectionString: url, max: 6 });
  pool.on?.('error', () => undefined);
  const store = postgresStore({ pool, schema });
  return {
    store,
    query: async (toSql) => {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return (await pool.query(toSql((name) => `"${schema}".${name}`))).rows;
        } catch (error) {
          if (attempts >= 100) throw error;
          await pause(100);
        }
      }
    },
    close: async () => {
      await store.close();
      await pool.end();
    },
  };
}

export const openDatabase = async (database: Database): Promise<OpenedDatabase> =>
  database.type === 'sqlite' ? openSqlite(database.path) : openPostgres(database);

/** The sessions that are owned, with the ids of their workers. */
export async function readOwned({ query }: OpenedDatabase): Promise<readonly { readonly id: string; readonly worker: string }[]> {
  const rows = await query(
    (table) => `SELECT s.id, h.owner AS worker FROM ${table('heads')} h JOIN ${table('sessions')} s ON h.session = s.num
    WHERE h.owner IS NOT NULL`,
  );
  return rows.map(({ id, worker }) => ({ id: String(id), worker: String(worker) }));
}

/** The number of recorded steps. */
export async function countSteps({ query }: OpenedDatabase): Promise<number> {
  const [row] = await query((table) => `SELECT count(*) AS steps FROM ${table('log')} WHERE step IS NOT NULL`);
  return Number(row?.['steps']);
}
