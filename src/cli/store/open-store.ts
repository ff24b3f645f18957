// Opening a store for a command.
// P1. A command never creates a store by accident: only the target of a copy may be new.
import type { SessionStore } from '../../sessions/index.ts';
import { unavailableError } from '../failures.ts';
import { inspectPostgres } from './inspect-postgres.ts';
import { inspectSqlite } from './inspect-sqlite.ts';
import { loadPool } from './load-pg.ts';
import { describeLocation } from './locate-store.ts';
import type { StoreLocation } from './locate-store.ts';
import type { StoreFacts } from './store-facts.ts';

/** A store, and what was found at its place before it was opened. */
export interface OpenedStore {
  readonly store: SessionStore;
  readonly facts: StoreFacts;
}

/** Options for opening a store. */
export interface OpenOptions {
  /** Current folder, in whose project pg is looked for. */
  readonly cwd: string;
  /** Creates a store if there is none. @default false */
  readonly creates?: boolean;
}

function checkFacts(facts: StoreFacts, { creates = false }: OpenOptions): void {
  if (facts.type === 'store' || (facts.type === 'missing' && creates)) return;
  throw unavailableError(`${facts.problem} Nothing was changed. Pass another --db.`);
}

async function openSqlite(path: string, options: OpenOptions): Promise<OpenedStore> {
  const facts = await inspectSqlite(path);
  checkFacts(facts, options);
  const { sqliteStore } = await import('../../sessions/sqlite/index.ts');
  return { store: sqliteStore({ path }), facts };
}

async function openPostgres(url: string, schema: string, options: OpenOptions): Promise<OpenedStore> {
  const Pool = await loadPool(options.cwd);
  const pool = new Pool({ connectionString: url, max: 4 });
  try {
    // A connection that is lost while nobody uses it is replaced by the next.
    pool.on?.('error', () => undefined);
    const facts = await inspectPostgres(pool, schema);
    checkFacts(facts, options);
    const { postgresStore } = await import('../../sessions/postgres/index.ts');
    return { store: postgresStore({ pool, schema, endsPool: true }), facts };
  } catch (error) {
    await pool.end();
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && /^(?:E[A-Z]+|[0-9A-Z]{5})$/.test(error.code))
      throw unavailableError(`${describeLocation({ type: 'postgres', url, schema })} cannot be reached: ${error.message || error.code}.`);
    throw error;
  }
}

/** Opens the store at a place. */
export function openStore(location: StoreLocation, options: OpenOptions): Promise<OpenedStore> {
  return location.type === 'sqlite' ? openSqlite(location.path, options) : openPostgres(location.url, location.schema, options);
}
