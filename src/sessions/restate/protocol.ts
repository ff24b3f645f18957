// Messages between the services.
// Owns:     the names of the services, and the shape of every message between them.
// Does not: know how a message is handled.
import type { ProcessIdentity } from '../../lib/index.ts';
import type { Mail, NewMail, SessionDeletion, SessionRewrite, SessionWrite } from '../index.ts';
import type { JsonObject } from '../../lib/index.ts';

/** Names of the services. `session` runs on workers, all others at the desk. */
export interface ServiceNames {
  /** One object per session: its turns. */
  readonly session: string;
  /** One object per session: its mails, and the copy for readers. */
  readonly desk: string;
  /** One object per worker: notifications that it receives while it works. */
  readonly bell: string;
  /** Waits for a bell. */
  readonly porter: string;
  /** One object: the list of workers. */
  readonly office: string;
}

/** The key of the only office. */
export const officeKey = 'all';

export const toServiceNames = (prefix: string): ServiceNames => ({
  session: `${prefix}Session`,
  desk: `${prefix}Desk`,
  bell: `${prefix}Bell`,
  porter: `${prefix}Porter`,
  office: `${prefix}Office`,
});

/** The reason for a turn. Without a mail, the session continues where it stopped. */
export interface TurnInput {
  readonly mail?: Mail;
  /** Ids of the holds that the desk knew of. */
  readonly holds?: readonly string[];
  /** Time for which this turn was scheduled, if it is a wake-up. */
  readonly wakeAt?: number;
  /** True if attempts at the same turn failed in an earlier invocation. */
  readonly isRepeated?: boolean;
}

/** A change to a session: the unit that is recorded, stored and reported to the desk. */
export type TurnChange =
  | ({ readonly type: 'write' } & Omit<SessionWrite, 'sessionId' | 'epoch'>)
  | ({ readonly type: 'rewrite' } & Omit<SessionRewrite, 'sessionId' | 'epoch'>)
  | ({ readonly type: 'delete' } & Omit<SessionDeletion, 'sessionId' | 'epoch'>)
  | { readonly type: 'answer'; readonly num: number; readonly reply?: string };

/** Changes on their way to the desk. */
export interface TurnReport {
  readonly changes: readonly TurnChange[];
  /** The worker that runs the session; absent once its turn has ended. */
  readonly worker?: string;
  /** True if an earlier report of the same turn named the same worker. */
  readonly isKnown?: boolean;
}

/** An action that was accepted, or the reason why it was not. */
export type PostReply = { readonly mail: Mail } | { readonly error: JsonObject };

export type PostRequest = NewMail;

/** A notification for a worker. */
export type BellCall = { readonly type: 'mail'; readonly mail: Mail } | { readonly type: 'holds' };

/** Calls that a worker has not heard yet. It says how far it has heard when it listens again. */
export interface BellCalls {
  readonly calls: readonly BellCall[];
  /** Number of the last one. */
  readonly upTo: number;
}

/** Sign of life of a worker. */
export interface WorkerSign extends ProcessIdentity {
  readonly id: string;
  readonly name?: string;
  /** Time at which it started. */
  readonly since: number;
  /** True if it is shutting down. */
  readonly isLeaving?: boolean;
}

/** Range of entries that a worker requests from the desk. */
export interface EntryRange {
  readonly from: number;
  readonly to: number;
}
