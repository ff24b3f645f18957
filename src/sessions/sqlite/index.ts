export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';
export type { SqliteStoreOptions } from './sqlite-store.ts';
export { sqliteStore } from './sqlite-store.ts';
