// What becomes of a message that comes while a session runs or waits.
// X1. A message that is queued for an execution of its own is applied only once the execution before it has ended.
// X2. A message that interrupts never joins the execution that it interrupts.
// X3. A wait for a grant refuses every message: only a grant or a cancel ends it.
// X4. No two messages of a session have the same id: pages, erasing and exports find a message by it.
import type { Json } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import { MessageRefusedError } from '../../step-by-step/index.ts';
import type { ActionRequest, SendRequest } from './action.ts';
import type { Queue, QueuedAction } from './entries.ts';
import { hasWork } from './session.ts';

export const isInterrupting = (request: ActionRequest): boolean => request.type === 'send' && request.whileRunning === 'interrupt';

const isWaiting = (state: RunState): boolean => state.waitingFor.length > 0;

/** True for a message that is to open an execution of its own, behind the one that runs or waits. */
export function opensNext(request: ActionRequest, state: RunState, isRunning: boolean): boolean {
  if (request.type !== 'send') return false;
  if (isRunning || hasWork(state)) return request.whileRunning === 'queue';
  return isWaiting(state) && request.whileWaiting === 'queue' && !isWaitingForGrant(state);
}

const isWaitingForGrant = (state: RunState): boolean => state.waitingFor.some(({ type }) => type === 'grant');

/** Throws if a session has a message with this id, or will have it once what is queued was applied. */
export function assertNewMessage(state: RunState, id: Json | undefined, queued: Queue = new Map()): void {
  if (id === undefined) return;
  const isQueued = [...queued.values()].some(({ action }) => action.type === 'send' && action.message['id'] === id);
  const isPending = state.pendingStep?.partial.outputMessages.some((message) => message.id === id) === true;
  if (!isQueued && !isPending && state.messages.find((message) => message.id === id) === undefined) return;
  throw new InvalidArgumentError(`The session has a message with the id ${describeValue(id)} already. Send this one under another id.`);
}

/** Throws if a session that waits does not take this message. */
export function assertTakesMessage(state: RunState, { whileWaiting }: SendRequest): void {
  // A message that no rule would get past a limit is refused by the state, with what to do.
  if (whileWaiting !== 'refuse' || !isWaiting(state) || isWaitingForGrant(state)) return;
  const waitIds = state.waitingFor.map(({ id }) => id);
  throw new MessageRefusedError(waitIds, 'Answer that first, or send the message with another whileWaiting: "supersede" or "queue".');
}

/** True if a queued message can be applied to this state, or refused. */
export function isMessageDue(state: RunState, { action, execution, opensNext: isNext = false }: QueuedAction): boolean {
  if (action.type !== 'send') return true;
  if (isNext) return !hasWork(state) && !isWaiting(state);
  // A run that is interrupted ends itself.
  if (isInterrupting(action) && execution === state.execution.number && hasWork(state)) return false;
  return hasWork(state) || !isWaiting(state) || action.whileWaiting !== 'queue' || isWaitingForGrant(state);
}

/** True for a queued message that came while the session ran, and interrupts that run. */
export const isInterruption = ({ action, opensNext: isNext = false }: QueuedAction): boolean => !isNext && isInterrupting(action);

/** True if a queued message interrupts an execution. */
export const hasInterruption = (queued: Queue, number: number): boolean =>
  [...queued.values()].some((each) => each.execution === number && isInterruption(each));
