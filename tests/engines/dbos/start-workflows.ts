// Workflows of DBOS in this process, for benchmarks.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { quietLogger } from './quiet-logger.ts';

export interface Workflows {
  /** Runs workflows side by side; settles when all of them have ended. */
  run(ids: readonly string[], steps: number): Promise<void>;
  dispose(): Promise<void>;
}

/** Starts DBOS on a database. `work` is the body of each workflow. */
export async function startWorkflows(
  url: string,
  work: (dbos: typeof DBOS, run: { readonly id: string; readonly steps: number }) => Promise<void>,
): Promise<Workflows> {
  const workflow = DBOS.registerWorkflow((id: string, steps: number) => work(DBOS, { id, steps }), { name: 'bench' });
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, systemDatabasePoolSize: 20, logger: quietLogger });
  await DBOS.launch();
  return {
    run: async (ids, steps) => {
      const handles = await Promise.all(ids.map((id) => DBOS.startWorkflow(workflow, { workflowID: id })(id, steps)));
      await Promise.all(handles.map((handle) => handle.getResult()));
    },
    dispose: () => DBOS.shutdown(),
  };
}
