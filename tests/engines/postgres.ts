import type { Server } from '../postgres/server.ts';
import { startServer } from '../postgres/server.ts';

/** Starts a Postgres server from the packages of this folder. */
export const startPostgres = (flags: readonly string[] = []): Promise<Server> =>
  // Holds: the caller says what the package exports.
  startServer(flags, async (name) => (await import(name)) as never);
