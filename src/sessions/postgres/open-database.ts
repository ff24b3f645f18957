// Opening a Postgres schema as a session store.
// O1. A schema that is not a session store, or one of another release, is left exactly as it was found.
// O2. Stores that start at the same time create the tables once: a lock that ends with the transaction puts them in order.
import type { StoredRow } from '../index.ts';
import { createSchemaError, StoreUnavailableError } from '../index.ts';
import { getSqlState, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow } from './connection.ts';
import { isIntact, listColumns } from '../table/index.ts';
import { createTables, inSchema, schemaVersion } from './tables.ts';

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

/** Throws if the tables are those of another release. */
async function checkVersion(query: Query, schema: string): Promise<void> {
  const name = `the Postgres schema "${schema}"`;
  let row: StoredRow | undefined;
  try {
    const text = `SELECT ${listColumns('meta').join(', ')} FROM ${inSchema(schema, 'meta')} WHERE name = 'schema'`;
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
  if (found > schemaVersion) throw createSchemaError(name, found, schemaVersion);
  if (found < schemaVersion) {
    const advice = 'Nothing was changed. Start with a new Postgres schema: pass its name as schema to postgresStore().';
    throw new StoreUnavailableError('older-schema', {
      what: `${name} has tables of version ${found}, and this release uses ${schemaVersion}`,
      advice,
    });
  }
}

function notAStore(schema: string, cause?: unknown): StoreUnavailableError {
  const advice = 'Nothing was changed. Use another schema.';
  return new StoreUnavailableError(
    'not-a-store',
    { what: `the Postgres schema "${schema}" has tables of another application`, advice },
    cause,
  );
}

/** Finds out what is there. Throws for a schema that cannot be used. Writes nothing. */
async function findSchema(query: Query, schema: string): Promise<'missing' | 'empty' | 'ready'> {
  const found = await queryJson(query, describeServer(schema));
  checkServer(found);
  if (found['hasMeta'] === true) {
    await checkVersion(query, schema);
    return 'ready';
  }
  if (found['hasTables'] === true) throw notAStore(schema);
  return found['hasSchema'] === true ? 'empty' : 'missing';
}

/** Makes the schema ready to be used as a store. */
export async function prepareSchema(query: Query, schema: string): Promise<void> {
  if ((await findSchema(query, schema)) === 'ready') return;
  await query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`stepline creates ${schema}`]);
  // Another process may have been quicker.
  const found = await findSchema(query, schema);
  if (found === 'missing') await query(`CREATE SCHEMA "${schema}"`);
  if (found !== 'ready') await query(createTables(schema));
  await query('COMMIT');
}

/** Classifies an error of opening. */
export const toOpenError = (schema: string, error: unknown): unknown =>
  toStoreError(error, `the Postgres schema "${schema}" could not be opened:`);
