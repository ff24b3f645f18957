export type { PostgresStoreOptions } from '../sessions/postgres/index.ts';
export { postgresStore } from '../sessions/postgres/index.ts';
