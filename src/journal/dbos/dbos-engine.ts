import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '../../lib/index.ts';
import { InvalidArgumentError } from '../../lib/index.ts';
import type { DurableEngine } from '../index.ts';
import { watchForCancel } from './cancel-watch.ts';
import type { DbosApi } from './dbos-api.ts';

/** Name of the steps that store rows. It must never change: DBOS compares it when it replays a workflow. */
const stepName = 'stepline';

/**
 * Creates an engine for runDurably() inside a DBOS workflow. Each recording is a step of the workflow. Cancelling the workflow interrupts
 * the model and the tools within a second.
 */
export function dbosEngine(dbos: DbosApi): DurableEngine {
  const { workflowID } = dbos;
  if (workflowID === undefined)
    throw new InvalidArgumentError(
      'dbosEngine() must be called in a DBOS workflow. Call it inside the function that you pass to DBOS.registerWorkflow().',
    );
  // Rows can be recorded from any async context, but DBOS finds the workflow by the context of the call.
  const runInside = AsyncLocalStorage.snapshot();
  return {
    // Stored as text: DBOS does not have to serialize it, and JSON does not change it.
    record: async <Value extends Json>(make: () => Value): Promise<Value> =>
      // Holds: this function wrote the value that it reads.
      JSON.parse(await runInside(() => dbos.runStep(async () => JSON.stringify(make()), { name: stepName }))) as Value,
    sleep: (ms) => runInside(() => dbos.sleepms(ms)),
    signal: watchForCancel(dbos, workflowID),
  };
}
