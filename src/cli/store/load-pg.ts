import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../../lib/index.ts';
import type { PostgresPool } from '../../sessions/postgres/index.ts';
import { unavailableError } from '../failures.ts';

type PoolConstructor = new (options: { readonly connectionString: string; readonly max: number }) => PostgresPool;

// Not a literal: bundlers would look for a package that is optional.
const packageName: string = 'pg';

/** Finds pg beside this package, else in the project of a folder. */
async function findPg(cwd: string): Promise<unknown> {
  try {
    return await import(packageName);
  } catch {
    const path = createRequire(join(cwd, 'package.json')).resolve(packageName);
    return import(pathToFileURL(path).href);
  }
}

/** Loads the pool of pg, which is an optional peer. */
export async function loadPool(cwd: string): Promise<PoolConstructor> {
  const found = await findPg(cwd).catch(() => undefined);
  const module = isRecord(found) && isRecord(found['default']) ? found['default'] : found;
  const Pool = typeof module === 'object' && module !== null ? (Reflect.get(module, 'Pool') as unknown) : undefined;
  if (typeof Pool !== 'function') throw unavailableError('Install pg to use a Postgres URL: npm install pg');
  // Holds: pg's Pool is constructed from a connection string; a type test of the adapter pins the rest.
  return Pool as PoolConstructor;
}
