// DBOS in this process, on a real Postgres server. A crash is an attempt that never goes on; DBOS is told to start the workflow again.
import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { dbosEngine } from '../../../src/journal/dbos/index.ts';
import type { JournalAttempt, JournalWorld } from '../../../src/testing/index.ts';
import type { Server } from '../../postgres/server.ts';
import { startPostgres } from '../postgres.ts';
import { quietLogger } from './quiet-logger.ts';

type Body = (attempt: JournalAttempt) => Promise<unknown>;

const never = new Promise<never>(() => undefined);

/** Runs a function outside of the workflow that calls it: inside, it would be a step. */
const runOutside = AsyncLocalStorage.snapshot();

export interface DbosWorld extends JournalWorld {
  readonly server: Server;
  dispose(): Promise<void>;
}

export async function createDbosWorld(): Promise<DbosWorld> {
  const server = await startPostgres();
  const bodies = new Map<string, Body>();
  const run = DBOS.registerWorkflow(
    async (id: string): Promise<unknown> => {
      const crash = (): Promise<never> => {
        runOutside(() => void DBOS.resumeWorkflow(id));
        return never;
      };
      return bodies.get(id)?.({ engine: dbosEngine(DBOS), crash });
    },
    { name: 'conformance' },
  );
  DBOS.setConfig({ name: 'conformance', systemDatabaseUrl: server.url, systemDatabasePoolSize: 20, logger: quietLogger });
  await DBOS.launch();
  return {
    server,
    execute: async (id, body) => {
      bodies.set(id, body);
      const handle = await DBOS.startWorkflow(run, { workflowID: id })(id);
      // Of the database: the promise of the first attempt may never settle.
      return (await DBOS.retrieveWorkflow(handle.workflowID).getResult({ pollingIntervalMs: 50 })) as never;
    },
    dispose: async () => {
      await DBOS.shutdown();
      await server.dispose();
    },
  };
}
