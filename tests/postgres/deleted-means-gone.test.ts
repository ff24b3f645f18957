// Nothing in the tables has any of a deleted session: every row of every table is searched as text.
import { describe, expect, test } from 'vitest';
import { deletions, leaveTraces, traces } from '../sessions/traces.ts';
import { usePool } from './place.ts';

const { pool, newClosingPlace } = usePool();

/** Names the tables of a schema that have any of the words in a row. */
async function findTables(schema: string): Promise<readonly string[]> {
  const { rows } = await pool().query('SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename', [schema]);
  const found: string[] = [];
  for (const { tablename } of rows) {
    const name = String(tablename);
    const { rows: all } = await pool().query(`SELECT t::text AS row FROM ${schema}.${name} t`);
    if (all.some(({ row }) => traces.some((trace) => String(row).includes(trace)))) found.push(name);
  }
  return found;
}

describe('everything of a person is gone from the tables', () => {
  test.each(Object.entries(deletions))('after %s', async (_, remove) => {
    const place = newClosingPlace();
    const left = await leaveTraces(place);
    expect(await findTables(place.schema)).toEqual(expect.arrayContaining(['effects', 'log', 'notes', 'sessions']));
    await remove(left);
    expect(await findTables(place.schema)).toStrictEqual([]);
    await left.settle();
    expect(await findTables(place.schema)).toStrictEqual([]);
  });
});
