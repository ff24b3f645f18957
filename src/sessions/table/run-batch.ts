// One transaction for everything that was queued since the last one.
// Owns:     what of it fits, and which rows that changes.
// Does not: begin or end the transaction, store anything, or settle any promise.
// B4. Results belong to tasks by their places in the batch: a session may have a stale write and a valid one in it.
import type { KnownSession, StoreChange, StoredRow, StoreTask, StoreTaskResult } from '../index.ts';
import { createPlan, getSessionId, planTask, toStoreChange } from '../index.ts';
import type { Change } from './changes.ts';
import { listChanges } from './changes.ts';
import type { TableDriver, WakingSession } from './driver.ts';
import type { Knowledge } from './facts.ts';
import { readFacts } from './facts.ts';
import type { TableWork } from './statement.ts';

/** A batch that is ready to be stored. */
export interface PlannedBatch {
  readonly results: readonly StoreTaskResult[];
  readonly changes: readonly Change[];
  /** The sessions that are written, as they are then, and those that are deleted. */
  readonly known: ReadonlyMap<string, KnownSession>;
  readonly deleted: readonly string[];
  /** Passed to those who watch the store. */
  readonly change: StoreChange | undefined;
  readonly waking: readonly WakingSession[];
  /** Workers that were read. */
  readonly workers: readonly StoredRow[];
}

/** Plans the tasks inside a transaction. */
export function* planBatch(
  { dialect, errors }: Pick<TableDriver, 'dialect' | 'errors'>,
  known: Knowledge,
  tasks: readonly StoreTask[],
): TableWork<PlannedBatch> {
  const facts = yield* readFacts(dialect, known, tasks);
  const plan = { ...createPlan<KnownSession>({ now: facts.now, facts }), facts };
  const results = tasks.map((task): StoreTaskResult => {
    try {
      return { ok: true, ...(task.type !== 'quarantine' && planTask(plan, task)) };
    } catch (error) {
      return { ok: false, error: errors.toSessionError(getSessionId(task), error) };
    }
  });
  const deleted = [...plan.deletions.keys()];
  const waking: WakingSession[] = deleted.flatMap((id) => {
    const owner = facts.findOwner(id);
    return owner === undefined ? [] : [{ agentName: '', owner }];
  });
  for (const { lease, posted, header } of plan.drafts.values())
    if (lease.isReady || posted.length > 0) waking.push({ agentName: header.agentName, owner: lease.owner, last: lease.last });
  const { changes, known: written } = listChanges(tasks, plan, dialect);
  return { results, changes, known: written, deleted, change: toStoreChange(tasks, results), waking, workers: facts.workers };
}
