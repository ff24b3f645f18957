// What a session answers to each action, by the condition that it is in. docs/sessions.md shows most of it.
// Owns:     the answers, and finding the condition of a session.
// Does not: apply an action, or write the error of a refusal: the checks that find it do.
// T1. One table for every way in: calls, the mailbox, HTTP, the page and the command line are tested against it.
// T2. An answer holds for fitting arguments: the wait that is open, a message that exists, an id that is free.
// T3. What is queued is answered again when it is its turn, by the condition that the session is in then.
import type { RunState, Wait } from '../../step-by-step/index.ts';
import type { ActionRequest } from './action.ts';
import { hasWork } from './session.ts';

/** An action that a session is asked for. */
export type ActionType = ActionRequest['type'] | 'delete';

/**
 * Condition of a session. `new`: nobody has spoken yet. `ended`: its last execution was completed, stopped or failed. `running`: a step is
 * open or about to start, also if a hold keeps it from that. The others are what it waits for.
 */
export type SessionCondition = 'unknown' | 'deleted' | 'damaged' | 'new' | 'ended' | 'running' | Wait['type'] | 'crash-loop';

/**
 * Answer to an action. `applied`: it takes effect at once. `queued`: it is stored, and applied when the step or the run has ended. `ignored`:
 * it is stored, and there is nothing to do. Otherwise the code of the error that refuses it.
 */
export type ActionAnswer =
  | 'applied'
  | 'queued'
  | 'ignored'
  | 'crash-loop'
  | 'invalid-argument'
  | 'message-refused'
  | 'not-waiting'
  | 'session-conflict'
  | 'session-damaged'
  | 'session-deleted'
  | 'unknown-session'
  | 'unknown-step';

type Answers = Readonly<Record<SessionCondition, ActionAnswer>>;

/** Gives the same answer in every condition of a session that is there. What waits after a crash loop takes nothing that would start a step. */
const whenReadable = (answer: ActionAnswer): Answers => ({
  ...{ unknown: 'unknown-session', deleted: 'session-deleted', damaged: 'session-damaged' },
  ...{ new: answer, ended: answer, running: answer, 'crash-loop': 'crash-loop' },
  ...{ approval: answer, 'client-tool': answer, 'unknown-call': answer, person: answer, provider: answer, grant: answer },
});

/** Answers to what is meant for one kind of wait. */
const toWait: Answers = { ...whenReadable('invalid-argument'), new: 'not-waiting', ended: 'not-waiting', running: 'queued' };
const toCall: Answers = { ...toWait, 'client-tool': 'applied', 'unknown-call': 'applied' };
const toOpen: Answers = { ...whenReadable('applied'), running: 'queued' };

/** Answers of sessions to actions. */
export const actionTable: Readonly<Record<ActionType, Answers>> = {
  create: { ...whenReadable('session-conflict'), unknown: 'applied', damaged: 'session-conflict', 'crash-loop': 'session-conflict' },
  send: { ...toOpen, grant: 'message-refused' },
  // A call that the open step has asked about can be approved before the step waits: that is queued.
  approve: { ...toWait, running: 'not-waiting', approval: 'applied' },
  reject: { ...toCall, approval: 'applied', grant: 'applied' },
  answer: { ...toCall, person: 'applied' },
  grant: { ...toOpen, ended: 'invalid-argument' },
  // A step that ended the process is replayed first as far as it got, so that nothing which its calls have done is forgotten.
  cancel: { ...toOpen, new: 'ignored', ended: 'ignored', 'crash-loop': 'queued' },
  resume: { ...whenReadable('ignored'), provider: 'applied', 'crash-loop': 'applied' },
  revoke: toOpen,
  erase: { ...toOpen, new: 'invalid-argument' },
  fork: { ...whenReadable('applied'), new: 'unknown-step', 'crash-loop': 'applied' },
  delete: { ...whenReadable('applied'), unknown: 'applied', deleted: 'ignored', damaged: 'applied', 'crash-loop': 'applied' },
};

/** Finds the condition of a session that can be read. An answer is about the wait that it names. */
export function findCondition(state: RunState, isRunning: boolean, waitId?: string): SessionCondition {
  if (state.execution.crashLoop !== undefined) return 'crash-loop';
  if (isRunning || hasWork(state)) return 'running';
  const { waitingFor } = state;
  const wait = waitingFor.find(({ id }) => id === waitId) ?? waitingFor[0];
  return wait?.type ?? (state.status === 'pending' ? 'new' : 'ended');
}
