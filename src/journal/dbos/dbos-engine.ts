import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '../../lib/index.ts';
import { InvalidArgumentError } from '../../lib/index.ts';
import type { DurableEngine } from '../index.ts';
import { watchForCancel } from './cancel-watch.ts';
import type { DbosApi } from './dbos-api.ts';

/** Name of the steps that hold rows. DBOS compares it when it replays a workflow, so that it never changes. */
const stepName = 'stepline';

/**
 * Creates an engine for runDurably() from the workflow that calls it. Each list of rows is a step of the workflow. A workflow that is
 * cancelled interrupts the model and the tools within a second.
 */
export function dbosEngine(dbos: DbosApi): DurableEngine {
  const { workflowID } = dbos;
  if (workflowID === undefined)
    throw new InvalidArgumentError(
      'dbosEngine() must be called in a DBOS workflow. Call it in a function that DBOS.registerWorkflow() returned.',
    );
  // Rows are recorded from wherever they come; DBOS finds its workflow by the context of the call.
  const runInside = AsyncLocalStorage.snapshot();
  return {
    // As text: DBOS need not take it apart, and JSON changes nothing in it.
    record: async <Value extends Json>(make: () => Value): Promise<Value> =>
      // Holds: what is read is what was written here.
      JSON.parse(await runInside(() => dbos.runStep(async () => JSON.stringify(make()), { name: stepName }))) as Value,
    sleep: (ms) => runInside(() => dbos.sleepms(ms)),
    ended: watchForCancel(dbos, workflowID),
  };
}
