// Actions of people as events.
// K1. An action becomes events when it is applied, in the entry that applies it: a queued one has none before.
// K2. Each wait that an action ends is resolved by an event of its own, also if nobody answered it.
import type { EventHeader } from '../../events/index.ts';
import { BaseEvent, describeEvent } from '../../events/index.ts';
import type { Json } from '../../lib/index.ts';
import type { Grant, Wait } from '../../step-by-step/index.ts';
import type { Actor } from './action.ts';

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

/** Every event about something that somebody did to a session. */
export type SessionEvent = UserMessageReceived | WaitResolved | LimitsGranted | CancelRequested | ApprovalRevoked;
