// One task of a batch, whatever it is, for stores that keep sessions in tables.
import { assertNever } from '../../lib/index.ts';
import type { KnownSession } from './check-rows.ts';
import { checkDeletion, checkMail, checkRewrite, checkWrite } from './check-write.ts';
import type { BatchPlan, MailAnswer, PlannedTask, StoreTask, StoreTaskResult } from './plan-batch.ts';
import { checkEpoch, checkNotDeleted, planDeletion, planHolder, planRewrite, planWrite } from './plan-batch.ts';
import type { Mail, NewMail, StoreChange } from './session-store.ts';

/** Throws an `InvalidArgumentError` for a task that no store could do. */
export function checkTask(task: StoreTask): void {
  if (task.type === 'write') checkWrite(task.write);
  else if (task.type === 'rewrite') checkRewrite(task.rewrite);
  else if (task.type === 'delete') checkDeletion(task.deletion);
  else if (task.type === 'post') checkMail(task.mail);
}

/** Returns the session that a task is about, if it is one. */
export function getSessionId(task: StoreTask): string | undefined {
  if (task.type === 'write') return task.write.sessionId;
  if (task.type === 'rewrite') return task.rewrite.sessionId;
  if (task.type === 'delete') return task.deletion.sessionId;
  if (task.type === 'post') return task.mail.sessionId;
  return task.type === 'quarantine' ? task.sessionId : undefined;
}

/** True if a task reads or changes who holds the store. */
export const isHolderTask = ({ type }: StoreTask): boolean => type === 'claim' || type === 'beat' || type === 'release';

function postMail<Known extends KnownSession>(plan: BatchPlan<Known>, mail: NewMail): Mail {
  checkNotDeleted(plan, mail.sessionId);
  const { facts } = plan;
  const { posted, changed } = plan.mail;
  const { sessionId, requestId, at, body } = mail;
  const known = posted.findLast((each) => each.sessionId === sessionId && each.requestId === requestId) ?? facts.findRequestMail(mail);
  const current = known !== undefined && changed.has(known.num) ? changed.get(known.num) : known;
  if (current !== undefined) return current;
  const added: Mail = { num: (posted.at(-1)?.num ?? facts.findLastMail()) + 1, sessionId, requestId, at, body };
  posted.push(added);
  return added;
}

function answerMail<Known extends KnownSession>(plan: BatchPlan<Known>, { epoch, num, reply }: MailAnswer): Mail | undefined {
  checkEpoch(plan, epoch);
  const { facts } = plan;
  const { posted, changed } = plan.mail;
  const mail = changed.has(num) ? changed.get(num) : (posted.find((each) => each.num === num) ?? facts.findMail(num));
  if (reply === undefined) changed.set(num, undefined);
  else if (mail !== undefined) changed.set(num, { ...mail, reply });
  return mail;
}

type Found = Omit<Extract<StoreTaskResult, { readonly ok: true }>, 'ok' | 'epoch'>;

/** Adds a task to the plan. Throws if it does not fit, and leaves the plan as it is. Returns what the task found. */
export function planTask<Known extends KnownSession>(plan: BatchPlan<Known>, task: PlannedTask): Found {
  switch (task.type) {
    case 'write':
      planWrite(plan, task.write);
      return {};
    case 'rewrite':
      planRewrite(plan, task.rewrite);
      return {};
    case 'delete':
      planDeletion(plan, task.deletion);
      return {};
    case 'post':
      return { mail: postMail(plan, task.mail) };
    case 'answer-mail': {
      const mail = answerMail(plan, task.answer);
      return mail === undefined ? {} : { mail };
    }
    case 'claim':
    case 'beat':
    case 'release':
      planHolder(plan, task);
      return {};
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
    const id = getSessionId(task) ?? (task.type === 'answer-mail' ? result.mail?.sessionId : undefined);
    if (id !== undefined) sessionIds.add(id);
    hasMail ||= task.type === 'post';
  }
  return sessionIds.size === 0 ? undefined : { sessionIds: [...sessionIds], hasMail };
}
