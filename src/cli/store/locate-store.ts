// The store that a command is about.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../failures.ts';

/** Place of a store. */
export type StoreLocation =
  { readonly type: 'sqlite'; readonly path: string } | { readonly type: 'postgres'; readonly url: string; readonly schema: string };

/** Answers to "which store?", the first one that is given counts. */
export interface StoreWish {
  /** File or Postgres URL. */
  readonly db?: string;
  readonly schema?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const defaultSchema = 'stepline';

/** Reads a file name or a Postgres URL. */
export function parseLocation(db: string, schema: string = defaultSchema): StoreLocation {
  // It becomes part of statements.
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema))
    throw usageError(`"${schema}" cannot be a Postgres schema: use letters, digits and _.`);
  return /^postgres(?:ql)?:\/\//i.test(db) ? { type: 'postgres', url: db, schema } : { type: 'sqlite', path: db };
}

/** Lists .stepline/*.db. Not with globSync, which older releases of Node lack: they must get as far as being told that they are too old. */
function listStores(cwd: string): readonly string[] {
  try {
    const names = readdirSync(join(cwd, '.stepline')).filter((name) => name.endsWith('.db'));
    return names.map((name) => join('.stepline', name)).toSorted();
  } catch {
    return [];
  }
}

/** Finds the only file in .stepline. */
function findDefault(cwd: string): string {
  const found = listStores(cwd);
  const [only] = found;
  if (only === undefined)
    throw usageError('Which store? Pass --db <file or postgres URL>, or set STEPLINE_DB. There is no .stepline/*.db here.');
  if (found.length > 1) throw usageError(`Which store? There are several here: ${found.join(', ')}. Pass one of them with --db.`);
  return only;
}

/** Finds the store: `--db`, else STEPLINE_DB, else the only .stepline/*.db of the current folder. */
export function locateStore({ db, schema, env, cwd }: StoreWish): StoreLocation {
  const fromEnv = env['STEPLINE_DB'] === '' ? undefined : env['STEPLINE_DB'];
  return parseLocation(db ?? fromEnv ?? findDefault(cwd), schema);
}

/** Describes a place without its password. */
export function describeLocation(location: StoreLocation): string {
  if (location.type === 'sqlite') return location.path;
  try {
    const { host, pathname } = new URL(location.url);
    return `postgres://${host}${pathname} (schema ${location.schema})`;
  } catch {
    return `postgres (schema ${location.schema})`;
  }
}
