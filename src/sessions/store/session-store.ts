// The store of sessions.
// Owns:     one log per session, the journal of its open step, the fields that sessions are found by, and who runs which session.
// Does not: know the content of the texts that it keeps, or decide when a worker counts as gone.
// T1. A write is kept whole or not at all, and what was kept survives the process.
// T2. Writes of one session are kept in the order in which they were asked for.
// T3. The log only grows. The journal of an open step is dropped in the same write that records the step.
// T4. A session has an owner while it has work, and none at rest. Its fence grows each time that it gets an owner or loses one against
//     its will: whoever writes with an earlier fence is refused, so no two workers ever write to it in turns.
// T5. Damage is reported for the session that it belongs to; all others can be read.
// T6. Mail, notes and reading need no lease: any process may use them. Mails of a session are numbered, and applied in that order, each in
//     the write that applies its action. A session with mail is never left without anybody who looks: it is ready to be claimed, or owned.
// T7. A deleted session stays deleted: its id is never used again, and whoever still writes to it is refused. What is kept of it is not
//     more than it takes to know the id again, and the time; notes about it are gone with it.
// T8. Entries with events are also read across all sessions, in the order in which they were committed. One that is committed later never
//     comes before a cursor that was handed out.
import type { EffectRow } from '../../journal/index.ts';
import { createBreather } from '../../lib/index.ts';
import type { ExecutionStatus } from '../../step-by-step/index.ts';
import type { StopReason } from '../../continuation/index.ts';
import type { ProcessIdentity } from '../../lib/index.ts';

/** A process that runs sessions. */
export interface WorkerInfo extends ProcessIdentity {
  /** Different for each runtime, and again after it was taken for gone. */
  readonly id: string;
  /** Name that the host gave it. */
  readonly name?: string;
  readonly joinedAt: number;
  /** Names of the agents that it runs. */
  readonly agents: readonly string[];
}

/** A worker, as everybody can read it. */
export interface StoredWorker extends WorkerInfo {
  /** Number of sessions that it could start now. */
  readonly room: number;
  /** Grows with each sign of life. */
  readonly beats: number;
  /** Time since the last one, by the clock of the store. */
  readonly silentMs: number;
  /** False if the store sees that the connection of the process is gone; absent if it cannot see that. */
  readonly isConnected?: boolean;
  /** Number of sessions that it owns. */
  readonly sessions: number;
}

/** Sessions to claim. */
export interface ClaimQuery {
  /** Id of the worker that claims. */
  readonly worker: string;
  /** Most sessions to claim. Those that somebody has cancelled come on top of it. */
  readonly limit: number;
  /** Agents whose sessions are claimed; with `releases`, only sessions of these. */
  readonly agents: readonly { readonly name: string; readonly releases?: readonly string[] }[];
  /** The highest format that the worker can read. */
  readonly maxFormat: number;
  /** Time of the worker: sessions that are to be woken by then are claimed too. */
  readonly now: number;
  /** Only these, also if another worker would be preferred. @default any */
  readonly sessionIds?: readonly string[];
  /** All but these. @default none */
  readonly except?: readonly string[];
}

/** A session that a worker owns from now on. */
export interface ClaimedSession {
  readonly sessionId: string;
  readonly fence: number;
  /** The number of the last entry. */
  readonly head: number;
  /** Number of workers that were lost in its open step. */
  readonly attempts: number;
  /** True if mail waits. */
  readonly hasMail: boolean;
}

export interface ClaimedSessions {
  readonly sessions: readonly ClaimedSession[];
  /** Time after `now` at which the next session that fits and that nobody owns is to be woken; absent if there is none. */
  readonly nextWakeAt?: number;
}

/** Fields that a session is found by, and that a list shows. Replaced with each write. */
export interface SessionHeader {
  readonly id: string;
  readonly agentName: string;
  /** Release of the agent that the session belongs to. */
  readonly agentRelease: string;
  /** Format of its entries. */
  readonly format: number;
  readonly tenant?: string;
  readonly owner?: string;
  readonly tags: readonly string[];
  readonly status: ExecutionStatus;
  readonly stopReason?: StopReason;
  /** True if something is left to do without anybody's help: a session that nobody owns is then ready to be claimed. */
  readonly isOpen: boolean;
  /** Time at which a wait of it expires. Milliseconds since the epoch. */
  readonly wakeAt?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** JSON text that the runtime shows without reading the log. */
  readonly details: string;
}

/** One entry of a session's log. */
export interface LogEntry {
  /** Counts from 1 in a session, without a gap. */
  readonly n: number;
  readonly at: number;
  /** True if the entry holds a whole state: entries before it need not be read to continue. */
  readonly isSnapshot: boolean;
  /** The execution, and the step of it, that this entry recorded. */
  readonly execution?: number;
  readonly step?: number;
  /** The request that this entry answers. At most one entry of a session has it. */
  readonly requestId?: string;
  /** JSON text. */
  readonly body: string;
  /** JSON text of the events that were emitted with it; absent if there were none. */
  readonly events?: string;
  /** The number of the last of these events. */
  readonly lastSeq?: number;
}

/**
 * The right to write to a session. `held`: the worker owns the session with this fence. `free`: nobody owns the session, and nobody has
 * since this fence; the write takes the next one. A session that is created has fence 0 before.
 */
export interface Lease {
  readonly worker: string;
  readonly fence: number;
  readonly type: 'held' | 'free';
}

/** A write that is kept whole or not at all. */
export interface SessionWrite {
  readonly sessionId: string;
  readonly lease: Lease;
  /** True if the worker owns the session after the write. Otherwise nobody does: it is ready if it is open or has mail, else at rest. */
  readonly keepsLease: boolean;
  /** True if the write is refused with `MailWaitingError` while mail waits that it does not apply. @default false */
  readonly isBehindMail?: boolean;
  /** The last entry that the writer knows of; 0 makes the session. Another one in the store refuses the write. */
  readonly after: number;
  /** Needed to create a session; if absent, the stored one stays. */
  readonly header?: SessionHeader;
  /** Numbered from `after + 1` on. */
  readonly entries?: readonly LogEntry[];
  /** New texts for entries up to `after`, such as those that hold a message to be erased. Everything else of the entries stays. */
  readonly rewrites?: readonly Pick<LogEntry, 'n' | 'body' | 'events'>[];
  readonly effects?: readonly EffectRow[];
  /** True if the step is recorded: drops its effects before anything of this write is added, and its attempts start again. */
  readonly clearsEffects?: boolean;
  /** The mail that this write applies, or, with a reply, refuses. One that is refused stays for whoever asks. */
  readonly mail?: { readonly num: number; readonly reply?: string };
  /** Refused mails that are removed, such as those that hold a message to be erased. */
  readonly dropsMail?: readonly number[];
  /** True if the loss of the worker from now on counts as an attempt at the open step, false if not. @default as before */
  readonly isStepping?: boolean;
  /** True if the attempts at the open step start again. @default false */
  readonly resetsAttempts?: boolean;
}

/** Receipt of a write. */
export interface WriteReceipt {
  /** True if mail waits. */
  readonly hasMail: boolean;
}

/** The deletion of a session. */
export interface SessionDeletion {
  readonly sessionId: string;
  readonly at: number;
}

/** An action that a process leaves for the worker that owns the session, or will. */
export interface NewMail {
  readonly sessionId: string;
  /** Unique in its session, among mails and entries. */
  readonly requestId: string;
  readonly at: number;
  /** JSON text. */
  readonly body: string;
  /** True if a worker that has no room applies it too. @default false */
  readonly isUrgent?: boolean;
}

export interface Mail extends Omit<NewMail, 'isUrgent'> {
  /** Counts from 1 in a session, in the order in which mails were posted. */
  readonly num: number;
  /** JSON text of the refusal; absent while the mail waits. */
  readonly reply?: string;
  /** Problem with its row, if that cannot be trusted. Its other fields are as they were found, or empty. */
  readonly damage?: string;
}

/** Filter for mails; all given fields must match. Those of a session are in the order in which they were posted. */
export interface MailQuery {
  readonly sessionId?: string;
  readonly requestId?: string;
  /** True for those without a reply, false for those with one. */
  readonly isWaiting?: boolean;
  /** Also those that are damaged, which are left out otherwise. @default false */
  readonly includesDamaged?: boolean;
  /** Maximum number. @default 1000 */
  readonly limit?: number;
}

/** Rows of an open step. */
export interface EffectQuery {
  /** Only those whose key begins with this text. @default all */
  readonly prefix?: string;
  /** Leaves out this many matching rows from the start. @default 0 */
  readonly skip?: number;
}

/** The open step of a session, with its header. */
export interface OpenEffects {
  readonly header: SessionHeader;
  /** The number of the last entry. */
  readonly head: number;
  readonly effects: readonly EffectRow[];
}

/** Something in a store may have changed. */
export interface StoreChange {
  /** Sessions that may have changed; absent if it may be any. */
  readonly sessionIds?: readonly string[];
  /** False if certainly no session got mail, or became ready. */
  readonly hasMail: boolean;
  /** Ids of the workers that are to look for mail or ready sessions; absent if any may. */
  readonly workers?: readonly string[];
}

/** A session as it is loaded to continue it. */
export interface StoredSession extends SessionHead {
  /** From the last snapshot on. */
  readonly entries: readonly LogEntry[];
  readonly effects: readonly EffectRow[];
}

/** Filter for sessions; all given fields must match. */
export interface SessionQuery {
  readonly tenant?: string;
  readonly agentName?: string;
  readonly owner?: string;
  readonly status?: ExecutionStatus;
  readonly stopReason?: StopReason;
  readonly tag?: string;
  readonly isOpen?: boolean;
  /** Those to be woken at this time or before. */
  readonly wakeBefore?: number;
  /** Those that were last changed before this time. */
  readonly updatedBefore?: number;
  /** Maximum number. @default 100 */
  readonly limit?: number;
  /** Cursor of the page before. */
  readonly cursor?: string;
}

/** A session in a list. */
export interface ListedSession {
  readonly id: string;
  /** Absent if it cannot be read. */
  readonly header?: SessionHeader;
  /** Describes the damage of its stored data, if there is any. */
  readonly damage?: string;
}

export interface SessionPage {
  /** Newest first, by when they were made. */
  readonly sessions: readonly ListedSession[];
  /** Ask with it for more; absent at the end. */
  readonly cursor?: string;
}

/** Range of entries to read. */
export interface EntryQuery {
  /** The first entry. @default 1 */
  readonly from?: number;
  /** The last entry. @default the head */
  readonly to?: number;
  /** Only those with events after this number. */
  readonly afterSeq?: number;
  /** Maximum number. @default 1000 */
  readonly limit?: number;
}

/** Range of the feed to read. */
export interface FeedQuery {
  /** Cursor of an entry or a page: reading begins after it. `end`: after everything that is stored. @default the start */
  readonly after?: string;
  /** Begins with the entry at the cursor, if it is still there. @default false */
  readonly isInclusive?: boolean;
  /** Only entries of sessions with this tenant. */
  readonly tenant?: string;
  /** Maximum number of entries to look at, whatever their tenant. @default 200 */
  readonly limit?: number;
}

/** An entry with events, with the header of its session; or the reason why it cannot be read. */
export type FeedEntry =
  | { readonly cursor: string; readonly sessionId: string; readonly header: SessionHeader; readonly entry: LogEntry }
  | {
      readonly cursor: string;
      /** Absent if that cannot be found out. */
      readonly sessionId?: string;
      readonly damage: string;
    };

export interface FeedPage {
  /** In the order in which they were committed. */
  readonly entries: readonly FeedEntry[];
  /** Reading continues after it. */
  readonly cursor: string;
  /** False if there is nothing after the cursor yet. */
  readonly hasMore: boolean;
}

/** The head of a session: what it is found by, how far its log goes, and who runs it. */
export interface SessionHead {
  readonly header: SessionHeader;
  /** The number of the last entry. */
  readonly head: number;
  readonly fence: number;
  /** Number of workers that were lost in its open step. */
  readonly attempts: number;
  /** Id of the worker that owns it; absent if nobody does. */
  readonly worker?: string;
  /** Number of the last mail, if one waits. Its row may be lost. */
  readonly lastMail?: number;
}

/** Logs of sessions. Reading needs no lease. */
export interface Log {
  /** Undefined if there is no such session. Rejects with `SessionDeletedError` if it was deleted. */
  load(sessionId: string): Promise<StoredSession | undefined>;
  /** In their order. */
  entries(sessionId: string, query?: EntryQuery): Promise<readonly LogEntry[]>;
  /** The entry that answered this request. */
  findRequest(sessionId: string, requestId: string): Promise<LogEntry | undefined>;
  /** Rows of the open step, without the log. Undefined if there is no such session. */
  effects(sessionId: string, query?: EffectQuery): Promise<OpenEffects | undefined>;
  /**
   * Settles when the write is safe. Rejects with `LeaseLostError` if the lease does not hold, with `MailWaitingError` if mail comes first, and
   * with `SessionConflictError` if the log has grown otherwise, or the session exists.
   */
  write(write: SessionWrite): Promise<WriteReceipt>;
  /**
   * Removes everything of a session, notes about it too, whoever owns it. Settles also if the session does not exist, which then never
   * will.
   */
  delete(deletion: SessionDeletion): Promise<void>;
}

/** Heads of sessions. */
export interface Heads {
  /** Undefined if there is no such session, or if it was deleted. */
  read(sessionId: string): Promise<SessionHead | undefined>;
  list(query?: SessionQuery): Promise<SessionPage>;
  /** Notes that a session's data cannot be trusted: it is listed with its damage. Undefined takes the note away. Nothing else is changed. */
  quarantine(sessionId: string, damage: string | undefined): Promise<void>;
}

/** Workers, and the sessions that they own. */
export interface Leases {
  /** Adds a worker. `before`: the id that it had when others took it for gone; what was counted against that is taken back. */
  join(worker: WorkerInfo, sign: { readonly room: number; readonly before?: string }): Promise<void>;
  /** Shows that a worker is alive, and how much room it has. Returns false, and changes nothing, if it is not known, or was freed. */
  beat(worker: string, room: number): Promise<boolean>;
  /** All workers, by when they joined. */
  workers(): Promise<readonly StoredWorker[]>;
  /**
   * Removes a worker that counts as gone, unless it has given a sign of life since: its sessions are ready for others, with a higher fence,
   * and each with an open step has one attempt more. Without a worker: frees the sessions of workers that are not known. Returns the
   * number of sessions.
   */
  free(gone?: { readonly worker: string; readonly beats: number }): Promise<number>;
  /** Makes a worker the owner of sessions that are ready. Those of tenants with few come first; those with attempts come last. */
  claim(query: ClaimQuery): Promise<ClaimedSessions>;
  /** Removes a worker; its sessions are ready, and nothing counts as an attempt. Given ids: only these, and the worker stays. */
  leave(worker: string, sessionIds?: readonly string[]): Promise<void>;
}

/** Actions that processes leave for the owner of a session. */
export interface Inbox {
  /**
   * Adds a mail; settles when it is safe, and makes a session ready that nobody owns. If the session has a mail for the same request, that
   * one is returned and nothing is added; undefined if its log has the request. Rejects with `UnknownSessionError` or
   * `SessionDeletedError`.
   */
  post(mail: NewMail): Promise<Mail | undefined>;
  read(query?: MailQuery): Promise<readonly Mail[]>;
  /** Removes replies to mails from before this time. */
  prune(before: number): Promise<void>;
}

/** A text that any process keeps under a name, such as the place of a reader in the feed. */
export interface StoredNote {
  readonly name: string;
  /** Counts the times that it was written. */
  readonly version: number;
  readonly body: string;
  /** Session that it is about. */
  readonly sessionId?: string;
}

/** A note to write. */
export interface NoteWrite {
  readonly name: string;
  /** The version that is replaced; 0 if there is no such note. */
  readonly version: number;
  /** If absent, the note is removed. */
  readonly body?: string;
  /**
   * Session that the note is about: it is removed with the session, and a later one is refused with `SessionDeletedError`. The session need
   * not exist yet. The same each time that a note is written.
   */
  readonly sessionId?: string;
  /** True if those who watch the store are called back about it. @default false */
  readonly isAnnounced?: boolean;
}

/** Filter for notes. */
export interface NoteQuery {
  /** Beginning of their names. */
  readonly prefix: string;
  /** Only those whose name comes after this one. */
  readonly after?: string;
  /** Maximum number. @default 100 */
  readonly limit?: number;
}

/** Notes that processes share. */
export interface Notes {
  /** Undefined if there is none. */
  read(name: string): Promise<StoredNote | undefined>;
  /** By their names. */
  list(query: NoteQuery): Promise<readonly StoredNote[]>;
  /** Writes a note if its version is still the given one. Returns false, and changes nothing, if it is not. */
  write(note: NoteWrite): Promise<boolean>;
}

/** Entries with events, of all sessions. */
export interface Feed {
  /** Rejects with `InvalidArgumentError` if the cursor is not one of this store. */
  read(query?: FeedQuery): Promise<FeedPage>;
}

/** Signs that something was stored. */
export interface Changes {
  /** Calls back soon after something was stored, by this process or another; returns its unsubscribe. Late at most by 100 ms. */
  watch(listener: (change: StoreChange) => void): () => void;
}

/**
 * A store: ports on the same data. Every method rejects with a typed error: `StoreUnavailableError` if the store cannot be used (closed,
 * full, read-only), `SessionDamagedError` if the stored data of a session cannot be trusted, `SessionDeletedError` if the session was
 * deleted.
 */
export interface SessionStore {
  readonly log: Log;
  readonly heads: Heads;
  readonly leases: Leases;
  readonly inbox: Inbox;
  readonly notes: Notes;
  readonly feed: Feed;
  readonly changes: Changes;
  /** Finishes the writes asked for until now, and releases everything. */
  close(): Promise<void>;
}

/** The ports that read sessions. */
export type SessionReader = Pick<SessionStore, 'log' | 'heads' | 'feed'>;

/** Sessions that are read in one go: few enough not to hold up the event loop. */
const pageSize = 200;

/** Lists all sessions that fit, page by page. */
export async function* listAll(store: Pick<SessionStore, 'heads'>, query: SessionQuery): AsyncGenerator<ListedSession, void, undefined> {
  const breathe = createBreather();
  let cursor: string | undefined;
  do {
    await breathe();
    const page = await store.heads.list({ ...query, limit: pageSize, ...(cursor !== undefined && { cursor }) });
    yield* page.sessions;
    ({ cursor } = page);
  } while (cursor !== undefined);
}
