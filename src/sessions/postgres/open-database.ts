// Opening a Postgres schema as a session store.
// O1. A schema that is not a session store, or one of a newer release, is left exactly as it was found.
// O2. Tables that an earlier build did not have are added, and the version of the schema stays: that build still works beside this one.
// O3. Stores that start at the same time migrate once: a lock that ends with the transaction puts them in order.
import type { StoredRow } from '../index.ts';
import { StoreUnavailableError } from '../index.ts';
import { getSqlState, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow } from './connection.ts';
import { addLaterTables, inSchema, isIntact, laterTables, migrateFrom, schemaVersion, listColumns } from './tables.ts';

const oldestServer = 140_000;

function describeServer(schema: string): string {
  return `SELECT json_build_object(
    'server', current_setting('server_version_num')::int,
    'version', current_setting('server_version'),
    'encoding', current_setting('server_encoding'),
    'hasSchema', EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'),
    'hasMeta', to_regclass('${inSchema(schema, 'meta')}') IS NOT NULL,
    'isComplete', ${laterTables.map((table) => `to_regclass('${inSchema(schema, table)}') IS NOT NULL`).join(' AND ')},
    'hasTables', EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${schema}')
  )::text AS found`;
}

function checkServer({ server, version, encoding }: StoredRow): void {
  if (Number(server) < oldestServer) {
    const advice = 'Use Postgres 14 or newer.';
    throw new StoreUnavailableError('failed', { what: `the server is Postgres ${String(version)}`, advice });
  }
  if (encoding !== 'UTF8') {
    const advice = 'Create a database with ENCODING UTF8.';
    throw new StoreUnavailableError('failed', { what: `the encoding of the database is ${String(encoding)}`, advice });
  }
}

async function readVersion(query: Query, schema: string): Promise<number> {
  const name = `the Postgres schema "${schema}"`;
  let row: StoredRow | undefined;
  try {
    const text = `SELECT ${listColumns('meta')} FROM ${inSchema(schema, 'meta')} WHERE name = 'schema'`;
    row = readRow(
      (await queryJson(query, `SELECT json_build_object('row', (SELECT row_to_json(m) FROM (${text}) m))::text AS found`))['row'],
    );
  } catch (error) {
    // A table of that name with other columns.
    if (getSqlState(error) === '42703') throw notAStore(schema, error);
    throw error;
  }
  if (row === undefined || !isIntact('meta', row))
    throw new StoreUnavailableError('failed', `the row with the schema version of ${name} is damaged or missing`);
  const found = Number(row['value']);
  if (found <= schemaVersion) return found;
  throw new StoreUnavailableError(
    'newer-schema',
    `${name} has version ${found}, written by a newer release; this one reads up to version ${schemaVersion}`,
  );
}

function notAStore(schema: string, cause?: unknown): StoreUnavailableError {
  const advice = 'Nothing was changed. Use another schema.';
  return new StoreUnavailableError(
    'not-a-store',
    { what: `the Postgres schema "${schema}" has tables of another application`, advice },
    cause,
  );
}

interface FoundSchema {
  /** The number of the schema; 0 if it has no tables. */
  readonly version: number;
  readonly hasSchema: boolean;
  /** True if the tables are there that were added without a new number. */
  readonly isComplete: boolean;
}

const isCurrent = ({ version, isComplete }: FoundSchema): boolean => version === schemaVersion && isComplete;

/** Finds the version of the tables. Throws for a schema that cannot be used. Writes nothing. */
async function findSchema(query: Query, schema: string): Promise<FoundSchema> {
  const found = await queryJson(query, describeServer(schema));
  checkServer(found);
  const isComplete = found['isComplete'] === true;
  if (found['hasMeta'] === true) return { version: await readVersion(query, schema), hasSchema: true, isComplete };
  if (found['hasTables'] === true) throw notAStore(schema);
  return { version: 0, hasSchema: found['hasSchema'] === true, isComplete };
}

async function migrate(query: Query, schema: string): Promise<void> {
  await query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`stepline migrates ${schema}`]);
  // Another process may have been quicker.
  const { version, hasSchema, isComplete } = await findSchema(query, schema);
  if (!hasSchema) await query(`CREATE SCHEMA "${schema}"`);
  if (version < schemaVersion) await query(migrateFrom(version, schema));
  else if (!isComplete) await query(addLaterTables(schema));
  await query('COMMIT');
}

/** Makes the schema ready to be used as a store. */
export async function prepareSchema(query: Query, schema: string): Promise<void> {
  if (!isCurrent(await findSchema(query, schema))) await migrate(query, schema);
}

/** Classifies an error of opening. */
export const toOpenError = (schema: string, error: unknown): unknown =>
  toStoreError(error, `the Postgres schema "${schema}" could not be opened:`);
