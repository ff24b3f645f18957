// DBOS in this process, on a real Postgres server. A crash is an attempt that never continues; DBOS then restarts the workflow.
import { AsyncLocalStorage } from 'node:async_hooks';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { dbosEngine } from '../../../src/journal/dbos/index.ts';
import type { JournalAttempt, JournalWorld } from '../../../src/testing/index.ts';
import type { Server } from '../../postgres/server.ts';
import { startPostgres } from '../postgres.ts';
import { quietLogger } from './quiet-logger.ts';

type Body = (attempt: JournalAttempt) => Promise<unknown>;

// A new promise each time: one that never settles keeps everything that ever waited for it.
const waitForever = (): Promise<never> => new Promise(() => undefined);

/** Runs a function outside the calling workflow: inside, it would be recorded as a step. */
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
        return waitForever();
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
      // Read from the database, because the promise of the first attempt may never settle.
      return (await DBOS.retrieveWorkflow(handle.workflowID).getResult({ pollingIntervalMs: 50 })) as never;
    },
    dispose: async () => {
      await DBOS.shutdown();
      await server.dispose();
    },
  };
}
