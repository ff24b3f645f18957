import type { BaseEvent, EventHeader } from '../../events/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { isList, omitUndefined } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { Execution, RunState, Wait } from '../../step-by-step/index.ts';
import type { Action } from './action.ts';
import type { ApprovalUse } from './action-events.ts';
import { ApprovalRevoked, CancelRequested, LimitsGranted, UserMessageReceived, WaitDecision, WaitResolved } from './action-events.ts';
import { toExecutionId } from './execution-id.ts';

/** An action and the states before and after it. */
export interface AppliedAction {
  readonly action: Action;
  readonly before: RunState;
  readonly after: RunState;
  /** The use of an approval for the rest of the session that the action is. */
  readonly use?: ApprovalUse | undefined;
  /** True if the action ends a wait now, and the rest of it is applied later: its own event comes then. */
  readonly isQueued?: boolean;
}

/** Place of new events in a session. */
interface EventPlace {
  readonly sessionId: string;
  /** Name of the session's agent. */
  readonly agentName: string;
  /** The number of the last event before them. */
  readonly lastSeq: number;
  readonly at: number;
}

/** Converts a stored message to the fields that its event has. */
export function toMessageFacts(stored: JsonObject): Pick<UserMessageReceived, 'messageId' | 'text' | 'content'> {
  const { id: messageId, text } = Message.fromJSON(stored);
  const { parts } = stored;
  return omitUndefined({ messageId, text, content: isList(parts) ? parts : undefined });
}

/** Returns all open waits, also those behind a step that ended the process. */
function getOpenWaits(state: RunState): readonly Wait[] {
  const { execution, waitingFor } = state;
  if (execution.crashLoop === undefined) return waitingFor;
  return [...waitingFor, ...state.evolve({ execution: { ...execution, crashLoop: undefined } }).waitingFor];
}

/** Finds the waits that an action has ended. */
function findEndedWaits({ before, after }: AppliedAction): readonly Wait[] {
  const isSame = before.execution.number === after.execution.number;
  const open = new Set(isSame ? getOpenWaits(after).map(({ id }) => id) : []);
  return getOpenWaits(before).filter(({ id }) => !open.has(id));
}

const isExpiry = ({ by }: Action): boolean => by.kind === 'system' && by.id === 'expiry';

function toDecision(action: Action): WaitDecision {
  switch (action.type) {
    case 'approve':
      return WaitDecision.Approved;
    case 'reject':
      return isExpiry(action) ? WaitDecision.Expired : WaitDecision.Rejected;
    case 'answer':
      return WaitDecision.Answered;
    case 'grant':
      return WaitDecision.Granted;
    case 'send':
      return WaitDecision.Superseded;
    case 'cancel':
      return WaitDecision.Cancelled;
    case 'resume':
    case 'create':
    case 'fork':
    case 'erase':
    case 'revoke':
      return WaitDecision.Resumed;
  }
}

type NextHeader = (execution: Execution, stepNumber?: number) => EventHeader;

/** Creates the event about the action itself, if it has one beside those about the waits that it ends. */
function createOwnEvent({ action, before, after }: AppliedAction, next: NextHeader): readonly BaseEvent[] {
  const { by } = action;
  switch (action.type) {
    case 'send':
      return [new UserMessageReceived(next(after.execution), by, toMessageFacts(action.message))];
    case 'revoke':
      return [new ApprovalRevoked(next(after.execution), by, action.approvalId)];
    case 'grant':
      return [new LimitsGranted(next(after.execution), by, action.amounts)];
    case 'cancel':
      // An execution that has ended needs no cancel.
      return before === after ? [] : [new CancelRequested(next(before.execution), by, action.reason)];
    case 'approve':
    case 'reject':
    case 'answer':
    case 'resume':
    case 'create':
    case 'fork':
    case 'erase':
      return [];
  }
}

function createWaitEvents(applied: AppliedAction, next: NextHeader): readonly BaseEvent[] {
  const { action, before } = applied;
  const { execution } = before;
  const reason = 'reason' in action ? action.reason : undefined;
  const edited = action.type === 'approve' && action.args !== undefined;
  // A step that ended the process each time is the next one, though nothing of it is recorded.
  const step = execution.pendingStep?.number ?? execution.results.length + (execution.crashLoop === undefined ? 0 : 1);
  return findEndedWaits(applied).map(
    (wait) =>
      new WaitResolved(next(execution, step), action.by, { wait, decision: toDecision(action), reason, edited, approval: applied.use }),
  );
}

/** Creates the events of actions that were applied, numbered in their order. */
export function createActionEvents(
  actions: readonly AppliedAction[],
  { sessionId, agentName, lastSeq, at }: EventPlace,
): readonly BaseEvent[] {
  let seq = lastSeq;
  return actions.flatMap((applied) => {
    const { agentId, parentAgentId } = applied.after;
    const next: NextHeader = (execution, stepNumber = execution.pendingStep?.number ?? execution.results.length) => {
      seq += 1;
      const { id: executionId = toExecutionId(sessionId, execution.number) } = execution;
      return omitUndefined({ id: `${executionId}/${seq}`, seq, at, agentId, agentName, parentAgentId, sessionId, executionId, stepNumber });
    };
    return [...(applied.isQueued === true ? [] : createOwnEvent(applied, next)), ...createWaitEvents(applied, next)];
  });
}
