// Opening a Postgres schema as a session store.
// O1. A schema that is not a session store, or one of a newer release, is left exactly as it was found.
// O2. Stores that start at the same time migrate once: a lock that ends with the transaction puts them in order.
import type { StoredRow } from '../index.ts';
import { StoreUnavailableError } from '../index.ts';
import { getSqlState, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow } from './connection.ts';
import { inSchema, isIntact, migrateFrom, schemaVersion, selected } from './tables.ts';

const oldestServer = 140_000;

function describeServer(schema: string): string {
  return `SELECT json_build_object(
    'server', current_setting('server_version_num')::int,
    'version', current_setting('server_version'),
    'encoding', current_setting('server_encoding'),
    'hasSchema', EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'),
    'hasMeta', to_regclass('${inSchema(schema, 'meta')}') IS NOT NULL,
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
    const text = `SELECT ${selected('meta')} FROM ${inSchema(schema, 'meta')} WHERE name = 'schema'`;
    row = readRow(
      (await queryJson(query, `SELECT json_build_object('row', (SELECT row_to_json(m) FROM (${text}) m))::text AS found`))['row'],
    );
  } catch (error) {
    // A table of that name with other columns.
    if (getSqlState(error) === '42703') throw notAStore(schema, error);
    throw error;
  }
  if (row === undefined || !isIntact('meta', row))
    throw new StoreUnavailableError('failed', `the row that says which release wrote ${name} is damaged or missing`);
  const found = Number(row['value']);
  if (found <= schemaVersion) return found;
  throw new StoreUnavailableError('newer-schema', `${name} has version ${found}, and this release knows ${schemaVersion}`);
}

function notAStore(schema: string, cause?: unknown): StoreUnavailableError {
  const advice = 'Nothing was changed. Give another schema.';
  return new StoreUnavailableError(
    'not-a-store',
    { what: `the Postgres schema "${schema}" holds tables of something else`, advice },
    cause,
  );
}

/** Finds the version of the tables; 0 if there are none. Throws for a schema that cannot be used. Writes nothing. */
async function findVersion(query: Query, schema: string): Promise<{ readonly version: number; readonly hasSchema: boolean }> {
  const found = await queryJson(query, describeServer(schema));
  checkServer(found);
  if (found['hasMeta'] === true) return { version: await readVersion(query, schema), hasSchema: true };
  if (found['hasTables'] === true) throw notAStore(schema);
  return { version: 0, hasSchema: found['hasSchema'] === true };
}

async function migrate(query: Query, schema: string): Promise<void> {
  await query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`stepline migrates ${schema}`]);
  // Another process may have been quicker.
  const { version, hasSchema } = await findVersion(query, schema);
  if (!hasSchema) await query(`CREATE SCHEMA "${schema}"`);
  if (version < schemaVersion) await query(migrateFrom(version, schema));
  await query('COMMIT');
}

/** Makes the schema ready to be used as a store. */
export async function prepareSchema(query: Query, schema: string): Promise<void> {
  const { version } = await findVersion(query, schema);
  if (version < schemaVersion) await migrate(query, schema);
}

/** Classifies an error of opening. */
export const toOpenError = (schema: string, error: unknown): unknown =>
  toStoreError(error, `the Postgres schema "${schema}" could not be opened:`);
