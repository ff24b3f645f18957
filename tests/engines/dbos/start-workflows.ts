// Workflows of DBOS in this process, for benchmarks. The package is loaded by name, so that the sources can be checked if it is not installed.
import type { DbosApi } from '../../../src/journal/dbos/index.ts';
import { quietLogger } from './quiet-logger.ts';

type Workflow = (id: string, steps: number) => Promise<void>;

/** The part of DBOS that is used here. */
interface Dbos extends DbosApi {
  registerWorkflow(workflow: Workflow, options: { readonly name: string }): Workflow;
  setConfig(config: object): void;
  launch(): Promise<void>;
  startWorkflow(
    workflow: Workflow,
    options: { readonly workflowID: string },
  ): (...args: Parameters<Workflow>) => Promise<{ getResult(): Promise<unknown> }>;
  shutdown(): Promise<void>;
}

const packageName = '@dbos-inc/dbos-sdk';

export interface Workflows {
  /** Runs workflows side by side; settles when all of them have ended. */
  run(ids: readonly string[], steps: number): Promise<void>;
  dispose(): Promise<void>;
}

/** Starts DBOS on a database. `work` is the body of each workflow. */
export async function startWorkflows(
  url: string,
  work: (dbos: DbosApi, run: { readonly id: string; readonly steps: number }) => Promise<void>,
): Promise<Workflows> {
  // Holds: the package exports this.
  const { DBOS: dbos } = (await import(packageName)) as { readonly DBOS: Dbos };
  const workflow = dbos.registerWorkflow((id, steps) => work(dbos, { id, steps }), { name: 'bench' });
  dbos.setConfig({ name: 'bench', systemDatabaseUrl: url, systemDatabasePoolSize: 20, logger: quietLogger });
  await dbos.launch();
  return {
    run: async (ids, steps) => {
      const handles = await Promise.all(ids.map((id) => dbos.startWorkflow(workflow, { workflowID: id })(id, steps)));
      await Promise.all(handles.map((handle) => handle.getResult()));
    },
    dispose: () => dbos.shutdown(),
  };
}
