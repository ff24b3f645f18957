// The store of sessions.
// Owns:     one log per session, the journal of its open step, and the fields that sessions are found by.
// Does not: know the content of the texts that it keeps, or when a session runs.
// T1. A write is kept whole or not at all, and what was kept survives the process.
// T2. Writes of one session are kept in the order in which they were asked for.
// T3. The log only grows. The journal of an open step is dropped in the same write that records the step.
// T4. Only the process that claimed the store last can write. The claim says who that is, and whether it still gives signs of life.
// T5. Damage is reported for the session that it belongs to; all others can be read.
// T6. Mail, notes and reading need no claim: any process may use them. A mail is removed in the write that applies its action.
// T7. A deleted session stays deleted: its id is never used again, and whoever still writes to it is refused. What is kept of it is not
//     more than it takes to know the id again, and the time; notes about it are gone with it.
// T8. Entries with events are also read across all sessions, in the order in which they were committed. One that is committed later never
//     comes before a cursor that was handed out.
import type { EffectRow } from '../../journal/index.ts';
import { createBreather } from '../../lib/index.ts';
import type { ExecutionStatus } from '../../step-by-step/index.ts';
import type { StopReason } from '../../continuation/index.ts';
import type { ProcessIdentity } from '../../lib/index.ts';

/** The process that has claimed a store. */
export interface StoreHolder extends ProcessIdentity {
  /** Different for each runtime. */
  readonly id: string;
  /** Name that the host gave it. */
  readonly name?: string;
  readonly claimedAt: number;
}

/** The claim on a store, as everybody can read it. */
export interface StoreClaim {
  /** Number of the last claim; 0 if there was none. */
  readonly epoch: number;
  /** Absent if nobody holds the store, or if the holder did not say who it is. */
  readonly holder?: StoreHolder;
  /** Grows with each heartbeat of the holder. */
  readonly beats: number;
}

/** A claim to make. */
export interface ClaimRequest {
  readonly holder?: StoreHolder;
  /** The last claim that the caller knows of; another one in the store refuses this one with `StoreFencedError`. @default any */
  readonly after?: number;
}

/** Fields that a session is found by, and that a list shows. Replaced with each write. */
export interface SessionHeader {
  readonly id: string;
  readonly agentName: string;
  readonly tenant?: string;
  readonly owner?: string;
  readonly tags: readonly string[];
  readonly status: ExecutionStatus;
  readonly stopReason?: StopReason;
  /** True if something is left to do without anybody's help: found at the next start, whatever became of the process. */
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

/** A write that is kept whole or not at all. */
export interface SessionWrite {
  readonly sessionId: string;
  /** Number that `claim` returned. */
  readonly epoch: number;
  /** The last entry that the writer knows of; 0 makes the session. Another one in the store refuses the write. */
  readonly after: number;
  /** Needed to create a session; if absent, the stored one stays. */
  readonly header?: SessionHeader;
  /** Numbered from `after + 1` on. */
  readonly entries?: readonly LogEntry[];
  readonly effects?: readonly EffectRow[];
  /** True if the step is recorded: drops its effects before anything of this write is added. */
  readonly clearsEffects?: boolean;
  /** Numbers of the mails whose actions this write applies: they are removed with it. One that is gone already does not matter. */
  readonly takesMail?: readonly number[];
}

/** New texts for stored entries, kept whole or not at all. Everything else of the entries stays. */
export interface SessionRewrite {
  readonly sessionId: string;
  /** Number that `claim` returned. */
  readonly epoch: number;
  /** The last entry that the writer knows of. Another one in the store refuses the rewrite. */
  readonly after: number;
  readonly header?: SessionHeader;
  readonly entries: readonly Pick<LogEntry, 'n' | 'body' | 'events'>[];
}

/** The deletion of a session. */
export interface SessionDeletion {
  readonly sessionId: string;
  readonly epoch: number;
  readonly at: number;
  readonly takesMail?: readonly number[];
}

/** An action that another process leaves for the worker. */
export interface NewMail {
  readonly sessionId: string;
  /** Unique in its session. */
  readonly requestId: string;
  readonly at: number;
  /** JSON text. */
  readonly body: string;
}

export interface Mail extends NewMail {
  /** Counts up in the order in which mails were posted. */
  readonly num: number;
  /** JSON text of the refusal; absent while the mail waits. */
  readonly reply?: string;
  /** Problem with its row, if that cannot be trusted. Its other fields are as they were found, or empty. */
  readonly damage?: string;
}

/** Filter for mails; all given fields must match. In the order in which they were posted. */
export interface MailQuery {
  readonly sessionId?: string;
  readonly requestId?: string;
  /** True for those without a reply, false for those with one. */
  readonly isWaiting?: boolean;
  /** Only those after this number. */
  readonly after?: number;
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
  /** False if there is certainly no new mail. */
  readonly hasMail: boolean;
}

/** A session as it is loaded to continue it. */
export interface StoredSession {
  readonly header: SessionHeader;
  /** The number of the last entry. */
  readonly head: number;
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

/** The head of a session: what it is found by, and how far its log goes. */
export interface SessionHead {
  readonly header: SessionHeader;
  /** The number of the last entry. */
  readonly head: number;
}

/** Logs of sessions. Reading needs no claim. */
export interface Log {
  /** Undefined if there is no such session. Rejects with `SessionDeletedError` if it was deleted. */
  load(sessionId: string): Promise<StoredSession | undefined>;
  /** In their order. */
  entries(sessionId: string, query?: EntryQuery): Promise<readonly LogEntry[]>;
  /** The entry that answered this request. */
  findRequest(sessionId: string, requestId: string): Promise<LogEntry | undefined>;
  /** Rows of the open step, without the log. Undefined if there is no such session. */
  effects(sessionId: string, query?: EffectQuery): Promise<OpenEffects | undefined>;
  /** Settles when the write is safe. Rejects with `SessionConflictError` if the log has grown otherwise, or the session exists. */
  write(write: SessionWrite): Promise<void>;
  /** Replaces texts of stored entries, such as those that hold a message to be erased. */
  rewrite(rewrite: SessionRewrite): Promise<void>;
  /** Removes everything of a session, notes about it too. Settles also if the session does not exist, which then never will. */
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

/** The claim that one process has on a store. */
export interface Claims {
  /** Makes the caller the one writer: the one before is refused from now on. Returns a number that is higher than any before. */
  claim(request?: ClaimRequest): Promise<number>;
  read(): Promise<StoreClaim>;
  /** Notes that the holder of this claim is alive. Rejects with `StoreFencedError` if another has claimed the store since. */
  beat(epoch: number): Promise<void>;
  /** Releases the claim. Rejects with `StoreFencedError` if another has claimed it since. */
  release(epoch: number): Promise<void>;
}

/** Actions that other processes leave for the worker. */
export interface Inbox {
  /**
   * Adds a mail; settles when it is safe. If the session has a mail for the same request, that one is returned and nothing is added.
   * Rejects with `SessionDeletedError` if the session was deleted. The session need not exist yet.
   */
  post(mail: NewMail): Promise<Mail>;
  read(query?: MailQuery): Promise<readonly Mail[]>;
  /** Answers a mail without applying it; undefined removes it. For the holder of the claim. A mail that is gone does not matter. */
  answer(answer: { readonly epoch: number; readonly num: number; readonly reply?: string }): Promise<void>;
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

/** Notes that processes share. They need no claim. */
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
 * full, read-only), `StoreFencedError` if another has claimed it since, `SessionDamagedError` if the stored data of a session cannot be
 * trusted, `SessionDeletedError` if the session was deleted.
 */
export interface SessionStore {
  readonly log: Log;
  readonly heads: Heads;
  readonly claims: Claims;
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
