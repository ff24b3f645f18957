// Detects workflows that are cancelled while they run in this process.
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

async function poll(dbos: DbosApi): Promise<void> {
  const workflowIDs = [...watched.keys()];
  const found = await dbos.listWorkflows({ workflowIDs, loadInput: false, loadOutput: false });
  const statuses = new Map(found.map(({ workflowID, status }) => [workflowID, status]));
  for (const id of workflowIDs) {
    const status = statuses.get(id);
    if (isOpen(status)) continue;
    if (status === 'CANCELLED') for (const abort of watched.get(id) ?? []) abort.abort(new Error(`Workflow ${id} was cancelled.`));
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

/** Returns a signal that aborts soon after the workflow is cancelled. */
export function watchForCancel(dbos: DbosApi, workflowId: string): AbortSignal {
  const abort = new AbortController();
  watched.set(workflowId, (watched.get(workflowId) ?? new Set()).add(abort));
  if (!isPolling) runOutside(() => schedule(dbos));
  return abort.signal;
}
