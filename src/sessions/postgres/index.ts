export type { PostgresStoreOptions } from './postgres-options.ts';
export type { PostgresClient, PostgresPool } from './postgres-pool.ts';
export { postgresStore } from './postgres-store.ts';
