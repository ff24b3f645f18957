export type { SqliteStoreOptions } from '../sessions/sqlite/index.ts';
export { sqliteStore } from '../sessions/sqlite/index.ts';
