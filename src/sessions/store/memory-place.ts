// The place that stores in memory share.
import type { EffectRow } from '../../journal/index.ts';
import type { Clock } from '../../lib/index.ts';
import { SessionDeletedError, UnknownSessionError } from '../core/errors.ts';
import { checkDeletion, checkMail, parseMailQuery } from './check-write.ts';
import type { LeaseRow } from './lease-row.ts';
import { postLease } from './lease-row.ts';
import type {
  LogEntry,
  Mail,
  MailQuery,
  NewMail,
  SessionDeletion,
  SessionHeader,
  StoreChange,
  StoredNote,
  WorkerInfo,
} from './session-store.ts';

/** One session. Changed only by a write that was checked as a whole, so that a refused one leaves nothing behind. */
export interface MemorySession {
  /** Counts sessions in the order in which they were made. */
  readonly num: number;
  header: SessionHeader;
  readonly entries: LogEntry[];
  effects: readonly EffectRow[];
  lease: LeaseRow;
  readonly mail: Map<number, Mail>;
}

/** A worker that has joined. */
export interface MemoryWorker {
  readonly info: WorkerInfo;
  readonly room: number;
  readonly beats: number;
  readonly beatAt: number;
}

/** Everything that the stores of a place share. */
export interface Place {
  /** Clock of the leases. */
  readonly clock: Clock;
  readonly workers: Map<string, MemoryWorker>;
  /** Sessions that were ever created; deleted ones count. */
  created: number;
  readonly sessions: Map<string, MemorySession>;
  /** Ids of sessions by tag. */
  readonly tagged: Map<string, Set<string>>;
  readonly damages: Map<string, string>;
  /** Times at which sessions were deleted. */
  readonly deleted: Map<string, number>;
  /** Entries with events, by the number that they have in the feed. */
  readonly feed: Map<number, { readonly sessionId: string; readonly n: number }>;
  /** Entries that were ever in the feed. */
  fed: number;
  readonly notes: Map<string, StoredNote>;
  readonly listeners: Set<(change: StoreChange) => void>;
}

export const createPlace = (clock: Clock): Place => ({
  clock,
  workers: new Map(),
  created: 0,
  sessions: new Map(),
  tagged: new Map(),
  damages: new Map(),
  deleted: new Map(),
  feed: new Map(),
  fed: 0,
  notes: new Map(),
  listeners: new Set(),
});

export function checkNotDeleted({ deleted }: Place, sessionId: string): void {
  const at = deleted.get(sessionId);
  if (at !== undefined) throw new SessionDeletedError(sessionId, at);
}

/** Removes everything of a session, and keeps its id. */
export function remove(place: Place, deletion: SessionDeletion): void {
  const { sessionId, at } = deletion;
  checkDeletion(deletion);
  if (!place.deleted.has(sessionId)) place.deleted.set(sessionId, at);
  noteTags(place, { sessionId, tags: [], before: place.sessions.get(sessionId)?.header.tags });
  place.sessions.delete(sessionId);
  place.damages.delete(sessionId);
  for (const [num, fed] of place.feed) if (fed.sessionId === sessionId) place.feed.delete(num);
  for (const note of place.notes.values()) if (note.sessionId === sessionId) place.notes.delete(note.name);
}

/** Adds a mail, and makes its session ready. Undefined if the log has the request. */
export function post(place: Place, mail: NewMail): Mail | undefined {
  checkMail(mail);
  checkNotDeleted(place, mail.sessionId);
  const { sessionId, requestId, at, body } = mail;
  const session = place.sessions.get(sessionId);
  if (session === undefined) throw new UnknownSessionError(sessionId);
  for (const known of session.mail.values()) if (known.requestId === requestId) return known;
  if (session.entries.some((entry) => entry.requestId === requestId)) return undefined;
  session.lease = postLease(session.lease, mail, place.clock.now());
  const posted = Object.freeze({ num: session.lease.posted, sessionId, requestId, at, body });
  session.mail.set(posted.num, posted);
  return posted;
}

export function readMail({ sessions }: Place, query: MailQuery): readonly Mail[] {
  const { sessionId, requestId, isWaiting, limit } = parseMailQuery(query);
  const asked = sessionId === undefined ? [...sessions.values()] : [sessions.get(sessionId)];
  return asked
    .flatMap((session) => [...(session?.mail.values() ?? [])])
    .filter(
      (each) =>
        (requestId === undefined || each.requestId === requestId) && (isWaiting === undefined || isWaiting === (each.reply === undefined)),
    )
    .slice(0, limit);
}

function callSafely(listener: (change: StoreChange) => void, change: StoreChange): void {
  try {
    listener(change);
  } catch {
    // A listener that throws harms nobody.
  }
}

/** Notifies all watchers. Later, as if they were in another process. */
export function notify({ listeners }: Place, change: StoreChange): void {
  for (const listener of listeners)
    queueMicrotask(() => {
      if (listeners.has(listener)) callSafely(listener, change);
    });
}

/** The tags of a session, and those that it had. */
interface TagChange {
  readonly sessionId: string;
  readonly tags: readonly string[];
  readonly before?: readonly string[] | undefined;
}

/** Notes under which tags a session is found. */
export function noteTags({ tagged }: Place, { sessionId, tags, before = [] }: TagChange): void {
  for (const tag of before) {
    if (tags.includes(tag)) continue;
    const ids = tagged.get(tag);
    ids?.delete(sessionId);
    if (ids?.size === 0) tagged.delete(tag);
  }
  for (const tag of tags) tagged.set(tag, (tagged.get(tag) ?? new Set()).add(sessionId));
}
