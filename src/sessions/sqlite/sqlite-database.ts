/** Value bound to a statement. */
export type SqliteValue = string | number | null;

/** A prepared statement: what node:sqlite and better-sqlite3 have in common. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** An open database: what node:sqlite and better-sqlite3 have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}
