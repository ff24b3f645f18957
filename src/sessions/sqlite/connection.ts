import { isRecord } from '../../lib/index.ts';
import type { StoredRow, StoredTable } from '../index.ts';
import type { Reading, Statement, TableWork } from '../table/index.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';
import { getColumns, readSafely } from './tables.ts';

const wantedRows = `(SELECT json_extract(value, '$.id') AS id, json_extract(value, '$.ref') AS ref, json_extract(value, '$.num') AS num
  FROM json_each(?)) AS w`;

/** Writes a text of the tables in the words of SQLite. */
const render = (text: string): string =>
  text
    .replaceAll('wanted(?)', wantedRows)
    // Holds: only tables are named so.
    .replaceAll(/\{(\w+)\}/g, (_, table: string) => readSafely(getColumns(table as StoredTable)))
    .replaceAll('@', '');

/** Runs SQL on a database. Each text is prepared once. */
export interface Connection {
  /** Returns how many rows were changed. */
  run(sql: string, ...values: readonly SqliteValue[]): number;
  get(sql: string, ...values: readonly SqliteValue[]): StoredRow | undefined;
  all(sql: string, ...values: readonly SqliteValue[]): readonly StoredRow[];
  close(): void;
}

export function connect(database: SqliteDatabase): Connection {
  const prepared = new Map<string, SqliteStatement>();
  function prepare(sql: string): SqliteStatement {
    const statement = prepared.get(sql) ?? database.prepare(render(sql));
    prepared.set(sql, statement);
    return statement;
  }
  return {
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    get: (sql, ...values) => {
      const row = prepare(sql).get(...values);
      return isRecord(row) ? row : undefined;
    },
    all: (sql, ...values) =>
      prepare(sql)
        .all(...values)
        .filter(isRecord),
    close: () => void database.close(),
  };
}

function answer(db: Connection, { page, parts }: Reading): readonly (readonly StoredRow[])[] {
  const read = ({ text, values }: Statement): readonly StoredRow[] =>
    page === undefined ? db.all(text, ...values) : db.all(`WITH page AS (${page.text}) ${text}`, ...page.values, ...values);
  const found: (readonly StoredRow[])[] = [];
  for (const part of parts) found.push(part.isForMissing === true && (found[0]?.length ?? 0) > 0 ? [] : read(part));
  return found;
}

/** Does work on the tables, inside a transaction. */
export function runWork<Value>(db: Connection, work: TableWork<Value>): Value {
  let asked = work.next();
  while (asked.done !== true) asked = work.next(answer(db, asked.value));
  return asked.value;
}
