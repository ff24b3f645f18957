export type { SqliteDatabase } from './sqlite-database.ts';
export type { SqliteStoreOptions } from './sqlite-options.ts';
export { sqliteStore } from './sqlite-store.ts';
