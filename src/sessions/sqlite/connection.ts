import { isRecord } from '../../lib/index.ts';
import type { StoredRow } from '../index.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';

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
    const statement = prepared.get(sql) ?? database.prepare(sql);
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
