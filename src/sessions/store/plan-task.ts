// One task of a batch, whatever it is, for stores that keep sessions in tables.
import { assertNever } from '../../lib/index.ts';
import type { KnownSession } from './check-rows.ts';
import { checkDeletion, checkMail, checkWrite } from './check-write.ts';
import type { BatchPlan, PlannedTask, StoreTask, StoreTaskResult, TaskReceipt } from './plan-batch.ts';
import { planDeletion, planPost, planWrite } from './plan-batch.ts';
import type { StoreChange } from './session-store.ts';

/** Throws an `InvalidArgumentError` for a task that no store could do. */
export function checkTask(task: StoreTask): void {
  if (task.type === 'write') checkWrite(task.write);
  else if (task.type === 'delete') checkDeletion(task.deletion);
  else if (task.type === 'post') checkMail(task.mail);
}

/** Returns the session that a task is about. */
export function getSessionId(task: StoreTask): string {
  if (task.type === 'write') return task.write.sessionId;
  if (task.type === 'delete') return task.deletion.sessionId;
  return task.type === 'post' ? task.mail.sessionId : task.sessionId;
}

/** Adds a task to the plan. Throws if it does not fit, and leaves the plan as it is. */
export function planTask<Known extends KnownSession>(plan: BatchPlan<Known>, task: PlannedTask): TaskReceipt {
  switch (task.type) {
    case 'write':
      return planWrite(plan, task.write);
    case 'delete':
      planDeletion(plan, task.deletion);
      return {};
    case 'post':
      return planPost(plan, task.mail);
    default:
      return assertNever(task);
  }
}

/** Describes what tasks have changed, for those who watch the store. Undefined if it is nothing that they could read. */
export function toStoreChange(tasks: readonly StoreTask[], results: readonly StoreTaskResult[]): StoreChange | undefined {
  const sessionIds = new Set<string>();
  let hasMail = false;
  for (const [index, task] of tasks.entries()) {
    const result = results[index];
    if (result?.ok !== true) continue;
    sessionIds.add(getSessionId(task));
    // Whoever runs a session that is deleted has to know.
    hasMail ||= task.type === 'post' || task.type === 'delete' || result.isReady === true;
  }
  return sessionIds.size === 0 ? undefined : { sessionIds: [...sessionIds], hasMail };
}
