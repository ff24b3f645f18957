// Messages between the services.
// Owns:     the names of the services, and the shape of every message between them.
// Does not: know how a message is handled.
import type { JsonObject, ProcessIdentity } from '../../lib/index.ts';
import type { Mail, SessionDeletion, SessionRewrite, SessionWrite } from '../index.ts';

/** Names of the services. `session` runs on workers, all others at the desk. */
export interface ServiceNames {
  /** One object per session: its turns. */
  readonly session: string;
  /** One object per session: the copy for readers. */
  readonly desk: string;
  /** One object per worker: notices that it has not received yet. */
  readonly notices: string;
  /** Requests of workers that belong to no single session. */
  readonly workers: string;
  /** One object: the list of workers. */
  readonly registry: string;
}

/** The key of the only registry. */
export const registryKey = 'all';

export const toServiceNames = (prefix: string): ServiceNames => ({
  session: `${prefix}Session`,
  desk: `${prefix}Desk`,
  notices: `${prefix}Notices`,
  workers: `${prefix}Workers`,
  registry: `${prefix}Registry`,
});

/** The reason for a turn. Without mails, the session continues where it stopped. */
export interface TurnInput {
  /** In their order. */
  readonly mails?: readonly Mail[];
  /** True if older mails wait that are not listed. */
  readonly hasMore?: boolean;
  /** Ids of the holds at that time. */
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

/** Changes of one session on their way to the desk. */
export interface TurnReport {
  readonly sessionId: string;
  readonly changes: readonly TurnChange[];
  /** The worker, if it runs the session now. */
  readonly worker?: string;
  /** True if the report before this one named the same worker. */
  readonly isKnown?: boolean;
}

/** Result of a report, or the reason why it was not stored. */
export type ReportReply =
  | {
      /** False if the copy lacks what some of the changes need. */
      readonly isWhole: boolean;
      /** True if mails wait for the session, and its worker was not known before. */
      readonly hasMail: boolean;
    }
  | { readonly error: JsonObject };

/** Makes a session send what the desk lacks. */
export interface CopyRequest {
  /** True to send the texts of all entries again, because some of them may be outdated. */
  readonly rewrites?: boolean;
}

/** Something that a worker should know at once. */
export type Notice = { readonly type: 'mail'; readonly mail: Mail } | { readonly type: 'holds' };

/** Notices that a worker has not received yet. It says how many it has received when it asks again. */
export interface PendingNotices {
  readonly notices: readonly Notice[];
  /** Number of the last one. */
  readonly upTo: number;
}

/** Sign of life of a worker. */
export interface Heartbeat extends ProcessIdentity {
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
