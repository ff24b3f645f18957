// Detects workflows that are cancelled, or taken over by another process, while they run in this one.
// Owns:     the list of watched workflows, and one timer for all of them.
// Does not: record anything. It queries outside of all workflows, because a query inside a workflow is recorded as a step.
// W1. One query at a time for all workflows of the process, and none if there are no workflows.
// W2. A workflow that has ended, or that the database does not know, is no longer watched.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DbosApi } from './dbos-api.ts';

const pollMs = 500;

/** Runs a function outside of the workflow that calls it. */
const runOutside = AsyncLocalStorage.snapshot();

const watched = new Map<string, Set<AbortController>>();
const isOpen = (status: string | undefined): boolean => status === 'PENDING' || status === 'ENQUEUED' || status === 'DELAYED';
let isPolling = false;

type FoundWorkflow = Awaited<ReturnType<DbosApi['listWorkflows']>>[number];

/** Returns why this process must not continue a workflow; undefined if it may, or the workflow has ended. */
function findReason({ status, executorId, workflowID }: FoundWorkflow, executorID: string | undefined): string | undefined {
  if (status === 'CANCELLED') return `Workflow ${workflowID} was cancelled.`;
  const isTaken = status === 'PENDING' && executorID !== undefined && executorId !== undefined && executorId !== executorID;
  return isTaken ? `Executor ${executorId} has taken over workflow ${workflowID}.` : undefined;
}

async function poll(dbos: DbosApi): Promise<void> {
  const workflowIDs = [...watched.keys()];
  const listed = await dbos.listWorkflows({ workflowIDs, loadInput: false, loadOutput: false });
  const found = new Map(listed.map((workflow) => [workflow.workflowID, workflow]));
  for (const id of workflowIDs) {
    const workflow = found.get(id);
    const reason = workflow && findReason(workflow, dbos.executorID);
    if (reason === undefined && isOpen(workflow?.status)) continue;
    if (reason !== undefined) for (const abort of watched.get(id) ?? []) abort.abort(new Error(reason));
    watched.delete(id);
  }
}

function schedule(dbos: DbosApi): void {
  isPolling = true;
  const again = (): void => {
    isPolling = false;
    if (watched.size > 0) schedule(dbos);
  };
  // A failed query is repeated: the database may be back by then.
  setTimeout(() => void poll(dbos).then(again, again), pollMs).unref();
}

/** Returns a signal that aborts soon after the workflow is cancelled or taken over. */
export function watchForCancel(dbos: DbosApi, workflowId: string): AbortSignal {
  const abort = new AbortController();
  watched.set(workflowId, (watched.get(workflowId) ?? new Set()).add(abort));
  if (!isPolling) runOutside(() => schedule(dbos));
  return abort.signal;
}
