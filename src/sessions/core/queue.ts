// Actions that came while a step of the session was open.
// I1. Each action is applied once, or refused with a reason; the log says which.
// I2. Nothing is applied while a step is open: what a model has answered, it answered without it.
import { toAuthorName } from './action.ts';
import { SteplineError } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { Action } from './action.ts';
import { applyRequest } from './answers.ts';
import type { AppliedAction } from './action-events.ts';
import type { EntryBody, Queue, QueuedAction } from './entries.ts';
import { isInterruption, isMessageDue } from './message-rules.ts';
import { hasWork } from './session.ts';
import { toWire } from './wire-errors.ts';

/** Actions that were applied to a state, or refused. */
export interface AppliedActions {
  readonly state: RunState;
  readonly applied: readonly number[];
  /** Changes of each applied action, in order. */
  readonly changes: readonly AppliedAction[];
  readonly refused: readonly { readonly entry: number; readonly error: unknown }[];
}

/** True for a step with an answer to work on that waits for others too. */
export const isHalfAnswered = (state: RunState): boolean =>
  hasWork(state) && state.pendingStep !== undefined && state.waitingFor.length > 0;

/** Returns the queued actions that cancel an execution, by their entry. */
export function findCancels(queued: Queue, number: number): ReadonlyMap<number, Extract<Action, { readonly type: 'cancel' }>> {
  const found = new Map<number, Extract<Action, { readonly type: 'cancel' }>>();
  for (const [entry, { action, execution }] of queued) if (action.type === 'cancel' && execution === number) found.set(entry, action);
  return found;
}

/** Returns the reason why an execution is to be cancelled, if somebody asked for that. */
export function findCancel(queued: Queue, number: number): string | undefined {
  const [first] = findCancels(queued, number).values();
  return first?.reason;
}

/** Returns the person who cancels an execution, if somebody does. */
export function findCanceller(queued: Queue, number: number): string | undefined {
  const [first] = findCancels(queued, number).values();
  return first && toAuthorName(first.by);
}

/** True for a message that comes behind a half answered step: the answered call runs before the message closes the rest of its step. */
export const isBlocked = (state: RunState, { action, opensNext = false }: QueuedAction): boolean =>
  action.type === 'send' && !opensNext && isHalfAnswered(state);

/** True if a queued action can be applied, or refused, while no step is open. */
export function isDue(state: RunState, queued: QueuedAction): boolean {
  const { action, execution } = queued;
  // A run that is left to do ends itself.
  if (action.type === 'cancel') return execution !== state.execution.number || !hasWork(state);
  if (action.type === 'erase') return !hasWork(state);
  return !isBlocked(state, queued) && isMessageDue(state, queued);
}

/** True if something in the queue can be applied while no step is open. */
export const hasDue = (state: RunState, queued: Queue): boolean => [...queued.values()].some((each) => isDue(state, each));

/** Returns queued actions in the order in which they are applied: a message that has interrupted a run comes first. */
export function sortQueue(queued: Queue): readonly (readonly [number, QueuedAction])[] {
  const all = [...queued];
  return [...all.filter(([, each]) => isInterruption(each)), ...all.filter(([, each]) => !isInterruption(each))];
}

/** Applies actions in their order. */
export function applyActions(from: RunState, actions: Iterable<readonly [number, QueuedAction]>): AppliedActions {
  let state = from;
  const applied: number[] = [];
  const changes: AppliedAction[] = [];
  const refused: { readonly entry: number; readonly error: unknown }[] = [];
  for (const [entry, { action, execution }] of actions) {
    try {
      // An execution that has ended needs no cancel.
      const isOver = action.type === 'cancel' && (execution !== state.execution.number || state.waitingFor.length === 0);
      const before = state;
      if (!isOver) state = applyRequest(state, action);
      applied.push(entry);
      changes.push({ action, before, after: state });
    } catch (error) {
      refused.push({ entry, error });
    }
  }
  return { state, applied, changes, refused };
}

/** Applies what may be applied between two steps; everything else waits until the run ends. Returns undefined if there is nothing. */
export function applyBetweenSteps(state: RunState, queued: Queue): AppliedActions | undefined {
  if (isHalfAnswered(state)) return undefined;
  const actions = [...queued].filter(
    ([, each]) => each.action.type === 'grant' || (each.action.type === 'send' && !isInterruption(each) && isMessageDue(state, each)),
  );
  return actions.length === 0 ? undefined : applyActions(state, actions);
}

/** The body of the entry that says what was applied and what was refused. */
export function toBody({ state, applied, refused }: AppliedActions): EntryBody {
  const why = refused.map(({ entry, error }) => ({
    entry,
    why: error instanceof Error ? error.message : String(error),
    ...(SteplineError.is(error) && { code: error.code }),
    error: toWire(error),
  }));
  return { ...(applied.length > 0 && { applied, execution: state.execution.number }), ...(why.length > 0 && { refused: why }) };
}
