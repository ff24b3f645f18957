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

const gone = { unknown: 'unknown-session', deleted: 'session-deleted', damaged: 'session-damaged' } as const;
const atRest = { new: 'not-waiting', ended: 'not-waiting' } as const;

/** Answers of sessions to actions. */
export const actionTable: Readonly<Record<ActionType, Readonly<Record<SessionCondition, ActionAnswer>>>> = {
  create: {
    ...{ unknown: 'applied', deleted: 'session-deleted', damaged: 'session-conflict' },
    ...{ new: 'session-conflict', ended: 'session-conflict', running: 'session-conflict' },
    ...{ approval: 'session-conflict', 'client-tool': 'session-conflict', 'unknown-call': 'session-conflict' },
    ...{ person: 'session-conflict', provider: 'session-conflict', grant: 'session-conflict', 'crash-loop': 'session-conflict' },
  },
  send: {
    ...{ ...gone, new: 'applied', ended: 'applied', running: 'queued' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'applied', grant: 'message-refused', 'crash-loop': 'crash-loop' },
  },
  approve: {
    // A call that the open step has asked about can be approved before the step waits: that is queued.
    ...{ ...gone, ...atRest, running: 'not-waiting' },
    ...{ approval: 'applied', 'client-tool': 'invalid-argument', 'unknown-call': 'invalid-argument' },
    ...{ person: 'invalid-argument', provider: 'invalid-argument', grant: 'invalid-argument', 'crash-loop': 'crash-loop' },
  },
  reject: {
    ...{ ...gone, ...atRest, running: 'queued' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'invalid-argument', provider: 'invalid-argument', grant: 'applied', 'crash-loop': 'crash-loop' },
  },
  answer: {
    ...{ ...gone, ...atRest, running: 'queued' },
    ...{ approval: 'invalid-argument', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'invalid-argument', grant: 'invalid-argument', 'crash-loop': 'crash-loop' },
  },
  grant: {
    ...{ ...gone, new: 'applied', ended: 'invalid-argument', running: 'queued' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'applied', grant: 'applied', 'crash-loop': 'crash-loop' },
  },
  cancel: {
    ...{ ...gone, new: 'ignored', ended: 'ignored', running: 'queued' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    // The step is replayed first as far as it got, so that nothing which its calls have done is forgotten.
    ...{ person: 'applied', provider: 'applied', grant: 'applied', 'crash-loop': 'queued' },
  },
  resume: {
    ...{ ...gone, new: 'ignored', ended: 'ignored', running: 'ignored' },
    ...{ approval: 'ignored', 'client-tool': 'ignored', 'unknown-call': 'ignored' },
    ...{ person: 'ignored', provider: 'applied', grant: 'ignored', 'crash-loop': 'applied' },
  },
  revoke: {
    ...{ ...gone, new: 'applied', ended: 'applied', running: 'queued' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'applied', grant: 'applied', 'crash-loop': 'crash-loop' },
  },
  erase: {
    ...{ ...gone, new: 'invalid-argument', ended: 'applied', running: 'queued' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'applied', grant: 'applied', 'crash-loop': 'crash-loop' },
  },
  fork: {
    ...{ ...gone, new: 'unknown-step', ended: 'applied', running: 'applied' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'applied', grant: 'applied', 'crash-loop': 'applied' },
  },
  delete: {
    ...{ unknown: 'applied', deleted: 'ignored', damaged: 'applied' },
    ...{ new: 'applied', ended: 'applied', running: 'applied' },
    ...{ approval: 'applied', 'client-tool': 'applied', 'unknown-call': 'applied' },
    ...{ person: 'applied', provider: 'applied', grant: 'applied', 'crash-loop': 'applied' },
  },
};

/** Finds the condition of a session that can be read. An answer is about the wait that it names. */
export function findCondition(state: RunState, isRunning: boolean, waitId?: string): SessionCondition {
  if (state.execution.crashLoop !== undefined) return 'crash-loop';
  if (isRunning || hasWork(state)) return 'running';
  const { waitingFor } = state;
  const wait = waitingFor.find(({ id }) => id === waitId) ?? waitingFor[0];
  return wait?.type ?? (state.status === 'pending' ? 'new' : 'ended');
}
