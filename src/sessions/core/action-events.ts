// Actions of people as events.
// K1. An action becomes events when it is applied, in the entry that applies it: a queued one has none before.
// K2. Each wait that an action ends is resolved by an event of its own, also if nobody answered it.
import type { EventHeader } from '../../events/index.ts';
import { BaseEvent, describeEvent } from '../../events/index.ts';
import type { Json, JsonObject } from '../../lib/index.ts';
import { isList, jsonEquals, omitUndefined } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { Execution, Grant, RunState, Wait } from '../../step-by-step/index.ts';
import type { Action, Actor } from './action.ts';
import { toExecutionId } from './execution-id.ts';

/** Base of the events about something that somebody did to a session. */
abstract class ActionEvent extends BaseEvent {
  readonly by: Actor;

  constructor(header: EventHeader, by: Actor) {
    super(header);
    this.by = { id: by.id, kind: by.kind };
  }

  override describe(): string {
    return describeEvent(this);
  }
}

/** A user's message was added to the conversation. */
export class UserMessageReceived extends ActionEvent {
  readonly type = 'UserMessageReceived';
  readonly messageId: string;
  readonly text: string;
  /** Parts of the message, if it is not plain text. */
  declare readonly content?: readonly Json[];

  constructor(header: EventHeader, by: Actor, facts: Pick<UserMessageReceived, 'messageId' | 'text' | 'content'>) {
    super(header, by);
    this.messageId = facts.messageId;
    this.text = facts.text;
    if (facts.content !== undefined) this.content = facts.content;
  }
}

/** The way in which a wait ended. */
export const WaitDecision = {
  Approved: 'approved',
  Rejected: 'rejected',
  Answered: 'answered',
  Granted: 'granted',
  /** Somebody, or the runtime, asked to try again what had waited: a provider that was down, or a step that ended the process. */
  Resumed: 'resumed',
  /** A new message took its place. */
  Superseded: 'superseded',
  Cancelled: 'cancelled',
  /** Nobody answered in time, and it was rejected. */
  Expired: 'expired',
} as const;
export type WaitDecision = (typeof WaitDecision)[keyof typeof WaitDecision];

/** A use of an approval that was given for the rest of a session. The call that it was given for is its first. */
export interface ApprovalUse {
  readonly id: string;
  readonly use: number;
  readonly maxUses: number;
}

/** Facts about a wait that has ended. */
export interface ResolvedWait {
  readonly wait: Wait;
  readonly decision: WaitDecision;
  readonly reason?: string | undefined;
  readonly edited?: boolean;
  readonly approval?: ApprovalUse | undefined;
}

/** Something that a session waited for is decided. */
export class WaitResolved extends ActionEvent {
  readonly type = 'WaitResolved';
  readonly waitId: string;
  readonly waitType: Wait['type'];
  declare readonly toolName?: string;
  readonly decision: WaitDecision;
  declare readonly reason?: string;
  /** True if a call was approved with other arguments than those it asked for. */
  readonly edited: boolean;
  /** Set if the approval was given for the rest of the session, by this action or an earlier one. */
  declare readonly approval?: ApprovalUse;

  constructor(header: EventHeader, by: Actor, { wait, decision, reason, edited = false, approval }: ResolvedWait) {
    super(header, by);
    this.waitId = wait.id;
    this.waitType = wait.type;
    if ('toolName' in wait) this.toolName = wait.toolName;
    this.decision = decision;
    if (reason !== undefined) this.reason = reason;
    this.edited = edited;
    if (approval !== undefined) this.approval = approval;
  }
}

/** The limits of an execution were raised. */
export class LimitsGranted extends ActionEvent {
  readonly type = 'LimitsGranted';
  readonly amounts: Grant;

  constructor(header: EventHeader, by: Actor, amounts: Grant) {
    super(header, by);
    this.amounts = amounts;
  }
}

/** Somebody asked to end the execution. */
export class CancelRequested extends ActionEvent {
  readonly type = 'CancelRequested';
  readonly reason: string;

  constructor(header: EventHeader, by: Actor, reason: string) {
    super(header, by);
    this.reason = reason;
  }
}

/** An approval for the rest of the session was revoked. */
export class ApprovalRevoked extends ActionEvent {
  readonly type = 'ApprovalRevoked';
  readonly approvalId: string;

  constructor(header: EventHeader, by: Actor, approvalId: string) {
    super(header, by);
    this.approvalId = approvalId;
  }
}

/** The open step is not resumed any more: it has ended the process each time. */
export class CrashLoopDetected extends BaseEvent {
  readonly type = 'CrashLoopDetected';
  /** Number of times that the step was resumed. */
  readonly attempts: number;
  /** Id of the wait for somebody who resumes or cancels the session. */
  readonly waitId: string;

  constructor(header: EventHeader, { attempts, waitId }: Pick<CrashLoopDetected, 'attempts' | 'waitId'>) {
    super(header);
    this.attempts = attempts;
    this.waitId = waitId;
  }

  override describe(): string {
    return describeEvent(this);
  }
}

/** Every event of a session that its orchestrator does not emit. */
export type SessionEvent = UserMessageReceived | WaitResolved | LimitsGranted | CancelRequested | ApprovalRevoked | CrashLoopDetected;

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
function toMessageFacts(stored: JsonObject): Pick<UserMessageReceived, 'messageId' | 'text' | 'content'> {
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

/** Decisions about the waits that an action ends; an action that is not listed asks to go on with what waited. */
const decisions: Readonly<Partial<Record<Action['type'], WaitDecision>>> = {
  approve: WaitDecision.Approved,
  reject: WaitDecision.Rejected,
  answer: WaitDecision.Answered,
  grant: WaitDecision.Granted,
  send: WaitDecision.Superseded,
  cancel: WaitDecision.Cancelled,
};

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
    default:
      return [];
  }
}

function createWaitEvents(applied: AppliedAction, next: NextHeader): readonly BaseEvent[] {
  const { action, before } = applied;
  const { execution } = before;
  const isExpiry = action.type === 'reject' && action.by.kind === 'system' && action.by.id === 'expiry';
  const reason = 'reason' in action ? action.reason : undefined;
  const edited = action.type === 'approve' ? action.args : undefined;
  // A step that ended the process each time is the next one, though nothing of it is recorded.
  const step = execution.pendingStep?.number ?? execution.results.length + (execution.crashLoop === undefined ? 0 : 1);
  return findEndedWaits(applied).map(
    (wait) =>
      new WaitResolved(next(execution, step), action.by, {
        wait,
        decision: isExpiry ? WaitDecision.Expired : (decisions[action.type] ?? WaitDecision.Resumed),
        reason,
        edited: edited !== undefined && !('args' in wait && jsonEquals(wait.args, edited)),
        approval: applied.use,
      }),
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
