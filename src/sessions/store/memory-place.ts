// The place that stores in memory share.
import type { EffectRow } from '../../journal/index.ts';
import { SessionDeletedError } from '../core/session-deleted-error.ts';
import { StoreFencedError } from '../core/store-fenced-error.ts';
import { checkDeletion, checkMail, parseMailQuery } from './check-write.ts';
import type {
  LogEntry,
  Mail,
  MailQuery,
  NewMail,
  SessionDeletion,
  SessionHeader,
  StoreChange,
  StoredNote,
  StoreHolder,
} from './session-store.ts';

/** One session. Changed only by a write that was checked as a whole, so that a refused one leaves nothing behind. */
export interface MemorySession {
  /** Counts sessions in the order in which they were made. */
  readonly num: number;
  header: SessionHeader;
  readonly entries: LogEntry[];
  effects: readonly EffectRow[];
}

/** Everything that the stores of a place share. */
export interface Place {
  epoch: number;
  holder: StoreHolder | undefined;
  beats: number;
  /** Sessions that were ever created; deleted ones count. */
  created: number;
  mailed: number;
  readonly sessions: Map<string, MemorySession>;
  /** Ids of sessions by tag. */
  readonly tagged: Map<string, Set<string>>;
  readonly damages: Map<string, string>;
  /** Times at which sessions were deleted. */
  readonly deleted: Map<string, number>;
  readonly mail: Map<number, Mail>;
  /** Entries with events, by the number that they have in the feed. */
  readonly feed: Map<number, { readonly sessionId: string; readonly n: number }>;
  /** Entries that were ever in the feed. */
  fed: number;
  readonly notes: Map<string, StoredNote>;
  readonly listeners: Set<(change: StoreChange) => void>;
}

export const createPlace = (): Place => ({
  epoch: 0,
  holder: undefined,
  beats: 0,
  created: 0,
  mailed: 0,
  sessions: new Map(),
  tagged: new Map(),
  damages: new Map(),
  deleted: new Map(),
  mail: new Map(),
  feed: new Map(),
  fed: 0,
  notes: new Map(),
  listeners: new Set(),
});

export function checkNotDeleted({ deleted }: Place, sessionId: string): void {
  const at = deleted.get(sessionId);
  if (at !== undefined) throw new SessionDeletedError(sessionId, at);
}

export function checkEpoch({ epoch }: Place, own: number): void {
  if (own !== epoch) throw new StoreFencedError({ own, current: epoch });
}

/** Removes everything of a session, and keeps its id. */
export function remove(place: Place, deletion: SessionDeletion): void {
  const { sessionId, epoch, at, takesMail = [] } = deletion;
  checkDeletion(deletion);
  checkEpoch(place, epoch);
  if (!place.deleted.has(sessionId)) place.deleted.set(sessionId, at);
  noteTags(place, { sessionId, tags: [], before: place.sessions.get(sessionId)?.header.tags });
  place.sessions.delete(sessionId);
  place.damages.delete(sessionId);
  for (const [num, fed] of place.feed) if (fed.sessionId === sessionId) place.feed.delete(num);
  for (const note of place.notes.values()) if (note.sessionId === sessionId) place.notes.delete(note.name);
  for (const num of takesMail) place.mail.delete(num);
  for (const { num, sessionId: id } of [...place.mail.values()]) if (id === sessionId) place.mail.delete(num);
}

export function post(place: Place, mail: NewMail): Mail {
  checkMail(mail);
  checkNotDeleted(place, mail.sessionId);
  for (const known of place.mail.values()) if (known.sessionId === mail.sessionId && known.requestId === mail.requestId) return known;
  const { sessionId, requestId, at, body } = mail;
  const posted = Object.freeze({ num: (place.mailed += 1), sessionId, requestId, at, body });
  place.mail.set(posted.num, posted);
  return posted;
}

export function readMail({ mail }: Place, query: MailQuery): readonly Mail[] {
  const { sessionId, requestId, isWaiting, after, limit } = parseMailQuery(query);
  return [...mail.values()]
    .filter(
      (each) =>
        each.num > after &&
        (sessionId === undefined || each.sessionId === sessionId) &&
        (requestId === undefined || each.requestId === requestId) &&
        (isWaiting === undefined || isWaiting === (each.reply === undefined)),
    )
    .slice(0, limit);
}

/** Answers a mail, or removes it. Returns the mail as it was. */
export function answerMail(
  place: Place,
  { epoch, num, reply }: { readonly epoch: number; readonly num: number; readonly reply?: string },
): Mail | undefined {
  checkEpoch(place, epoch);
  const mail = place.mail.get(num);
  if (reply === undefined) place.mail.delete(num);
  else if (mail !== undefined) place.mail.set(num, Object.freeze({ ...mail, reply }));
  return mail;
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
