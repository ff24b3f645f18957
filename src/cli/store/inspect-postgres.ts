// A look at a Postgres schema before it is opened as a store: opening one that is missing would create it.
import { isRecord } from '../../lib/index.ts';
import type { PostgresPool } from '../../sessions/postgres/index.ts';
import type { StoreFacts } from './store-facts.ts';

const readValue = (rows: readonly unknown[], name: string): unknown => (isRecord(rows[0]) ? rows[0][name] : undefined);

/** Looks at a schema without changing it. */
export async function inspectPostgres(pool: PostgresPool, schema: string): Promise<StoreFacts> {
  const name = `"${schema}".meta`;
  const client = await pool.connect();
  try {
    const { rows: found } = await client.query('SELECT to_regclass($1) IS NOT NULL AS there', [name]);
    if (readValue(found, 'there') !== true) return { type: 'missing', problem: `There is no store in the Postgres schema "${schema}".` };
    const { rows } = await client.query(`SELECT value FROM ${name} WHERE name = 'schema'`);
    const { rows: sizes } = await client.query(
      'SELECT COALESCE(sum(pg_total_relation_size(c.oid)), 0)::text AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = $2',
      [schema, 'r'],
    );
    return { type: 'store', schema: Number(readValue(rows, 'value')), bytes: Number(readValue(sizes, 'bytes')) };
  } catch (error) {
    return {
      type: 'foreign',
      problem: `The Postgres schema "${schema}" cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    };
  } finally {
    client.release();
  }
}
