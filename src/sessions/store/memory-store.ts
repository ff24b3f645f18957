import type { Clock } from '../../lib/index.ts';
import { omitUndefined, systemClock } from '../../lib/index.ts';
import { LeaseLostError, SessionConflictError, StoreUnavailableError } from '../core/errors.ts';
import { checkWrite, parseEffectQuery, parsePage, parseRange, createWriteError } from './check-write.ts';
import { checkLease, newLeaseRow, toHeadLease, writeLease } from './lease-row.ts';
import { addToFeed, listNotes, readFeed, writeNote } from './memory-feed.ts';
import { createLeases } from './memory-leases.ts';
import type { MemorySession, Place } from './memory-place.ts';
import { checkNotDeleted, createPlace, noteTags, notify, post, readMail, remove } from './memory-place.ts';
import type {
  EffectQuery,
  EntryQuery,
  Heads,
  Inbox,
  ListedSession,
  Log,
  LogEntry,
  OpenEffects,
  SessionHead,
  SessionHeader,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionWrite,
  StoreChange,
  StoredSession,
  WriteReceipt,
} from './session-store.ts';

/** A place in memory that outlives the stores opened on it, as a file outlives processes. */
export interface MemoryPlace {
  /** Another store on the same sessions. */
  open(): SessionStore;
}

const freezeCopy = <Row extends object>(row: Row): Row => Object.freeze({ ...row });
const freezeHeader = (header: SessionHeader): SessionHeader => freezeCopy({ ...header, tags: Object.freeze([...header.tags]) });

function checkFits({ sessionId, after, entries = [], effects = [], clearsEffects = false }: SessionWrite, before?: MemorySession): void {
  const head = before?.entries.length ?? 0;
  if (after === 0 ? before !== undefined : head !== after) throw new SessionConflictError(sessionId, { expected: after, found: head });
  const repeated = entries.find(({ requestId: id }) => id !== undefined && before?.entries.some(({ requestId }) => requestId === id));
  if (repeated !== undefined) throw createWriteError(sessionId, `the request "${String(repeated.requestId)}" was answered before`);
  if (clearsEffects) return;
  const kept = effects.find(({ key, phase }) => before?.effects.some((row) => row.key === key && row.phase === phase));
  if (kept !== undefined) throw createWriteError(sessionId, `the ${kept.phase} of "${kept.key}" is kept already`);
}

function apply(place: Place, write: SessionWrite): WriteReceipt {
  const { sessions } = place;
  const { sessionId, header, entries = [], rewrites = [], effects = [], clearsEffects = false, mail, dropsMail = [] } = write;
  checkNotDeleted(place, sessionId);
  const before = sessions.get(sessionId);
  // A session that exists says so to whoever would create it.
  if (before !== undefined && write.after > 0) checkLease(before.lease, write);
  if (write.keepsLease && !place.workers.has(write.lease.worker)) throw new LeaseLostError(sessionId);
  checkFits(write, before);
  const known = header === undefined ? before?.header : freezeHeader(header);
  if (known === undefined) throw createWriteError(sessionId, 'a new session needs a header and its first entry');
  if (before === undefined) place.created += 1;
  const session: MemorySession = before ?? {
    ...{ num: place.created, header: known, entries: [], effects: [], lease: newLeaseRow, mail: new Map() },
  };
  sessions.set(sessionId, session);
  noteTags(place, { sessionId, tags: known.tags, before: before?.header.tags });
  session.header = known;
  for (const { n, body, events } of rewrites) {
    // Holds: the numbers were checked against the head.
    const { events: _, ...kept } = session.entries[n - 1] as LogEntry;
    session.entries[n - 1] = freezeCopy({ ...kept, body, ...omitUndefined({ events }) });
  }
  session.entries.push(...entries.map(freezeCopy));
  addToFeed(place, sessionId, entries);
  session.effects = [...(clearsEffects ? [] : session.effects), ...effects.map(freezeCopy)];
  session.lease = writeLease(session.lease, write, { isOpen: known.isOpen, now: place.clock.now() });
  const answered = mail && session.mail.get(mail.num);
  if (mail?.reply !== undefined && answered !== undefined) session.mail.set(mail.num, Object.freeze({ ...answered, reply: mail.reply }));
  for (const num of [...(mail !== undefined && mail.reply === undefined ? [mail.num] : []), ...dropsMail]) session.mail.delete(num);
  return { hasMail: session.lease.posted > session.lease.applied };
}

function readEffects({ header, entries, effects }: MemorySession, query: EffectQuery): OpenEffects {
  const { prefix, skip } = parseEffectQuery(query);
  return { header, head: entries.length, effects: effects.filter(({ key }) => key.startsWith(prefix)).slice(skip) };
}

const fits = (header: SessionHeader, { tag, wakeBefore, updatedBefore, ...query }: SessionQuery): boolean =>
  (['tenant', 'agentName', 'owner', 'status', 'stopReason', 'isOpen'] as const).every(
    (field) => query[field] === undefined || query[field] === header[field],
  ) &&
  (tag === undefined || header.tags.includes(tag)) &&
  (updatedBefore === undefined || header.updatedAt < updatedBefore) &&
  (wakeBefore === undefined || (header.wakeAt !== undefined && header.wakeAt <= wakeBefore));

/** Lists the sessions that may fit, in the order in which they were made. */
function listCandidates({ sessions, tagged }: Place, { tag }: SessionQuery): readonly MemorySession[] {
  if (tag === undefined) return [...sessions.values()];
  const found = [...(tagged.get(tag) ?? [])].flatMap((id) => sessions.get(id) ?? []);
  return found.sort((one, other) => one.num - other.num);
}

function list(place: Place, query: SessionQuery): SessionPage {
  const { damages } = place;
  const { limit, before = Infinity } = parsePage(query);
  const found = [...listCandidates(place, query)].reverse().filter(({ num, header }) => num < before && fits(header, query));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    sessions: page.map(({ header }): ListedSession => omitUndefined({ id: header.id, header, damage: damages.get(header.id) })),
    ...(last !== undefined && found.length > limit && { cursor: String(last.num) }),
  };
}

const readHead = ({ header, entries, lease }: MemorySession): SessionHead => ({ header, head: entries.length, ...toHeadLease(lease) });

function load(session: MemorySession): StoredSession {
  const { entries, effects } = session;
  const snapshot = entries.findLastIndex(({ isSnapshot }) => isSnapshot);
  return { ...readHead(session), entries: entries.slice(Math.max(0, snapshot)), effects: [...effects] };
}

function readEntries({ entries }: MemorySession, query: EntryQuery): readonly LogEntry[] {
  const { from, to, limit } = parseRange(query, entries.length);
  const { afterSeq } = query;
  return entries
    .slice(from - 1, Math.max(0, to))
    .filter(({ lastSeq }) => afterSeq === undefined || (lastSeq !== undefined && lastSeq > afterSeq))
    .slice(0, limit);
}

function openStore(place: Place): SessionStore {
  let isClosed = false;
  const unsubscribes: (() => void)[] = [];
  const open = (): Place => {
    if (isClosed) throw new StoreUnavailableError('closed', 'it was closed');
    return place;
  };
  const log: Log = {
    load: async (sessionId) => {
      checkNotDeleted(open(), sessionId);
      const session = place.sessions.get(sessionId);
      return session && load(session);
    },
    entries: async (sessionId, query = {}) => {
      const session = open().sessions.get(sessionId);
      return session === undefined ? [] : readEntries(session, query);
    },
    findRequest: async (sessionId, requestId) =>
      open()
        .sessions.get(sessionId)
        ?.entries.find((entry) => entry.requestId === requestId),
    effects: async (sessionId, query = {}) => {
      const session = open().sessions.get(sessionId);
      return session && readEffects(session, query);
    },
    write: async (write) => {
      open();
      checkWrite(write);
      const receipt = apply(place, write);
      notify(place, { sessionIds: [write.sessionId], hasMail: place.sessions.get(write.sessionId)?.lease.isReady === true });
      return receipt;
    },
    delete: async (deletion) => {
      remove(open(), deletion);
      // Whoever runs it has to know.
      notify(place, { sessionIds: [deletion.sessionId], hasMail: true });
    },
  };
  const heads: Heads = {
    read: async (sessionId) => {
      const session = open().sessions.get(sessionId);
      if (session === undefined) return undefined;
      return readHead(session);
    },
    list: async (query = {}) => list(open(), query),
    quarantine: async (sessionId, damage) => {
      const isThere = open().sessions.has(sessionId);
      if (damage === undefined) place.damages.delete(sessionId);
      else if (isThere && !place.damages.has(sessionId)) place.damages.set(sessionId, damage);
      notify(place, { sessionIds: [sessionId], hasMail: false });
    },
  };
  const inbox: Inbox = {
    post: async (mail) => {
      const posted = post(open(), mail);
      notify(place, { sessionIds: [mail.sessionId], hasMail: true });
      return posted;
    },
    read: async (query = {}) => readMail(open(), query),
    prune: async (before) => {
      for (const { mail } of open().sessions.values())
        for (const { num, at, reply } of [...mail.values()]) if (reply !== undefined && at < before) mail.delete(num);
    },
  };
  return {
    log,
    heads,
    leases: createLeases(open),
    inbox,
    notes: {
      read: async (name) => open().notes.get(name),
      list: async (query) => listNotes(open(), query),
      write: async (note) => {
        const isWritten = writeNote(open(), note);
        if (isWritten && note.isAnnounced === true) notify(place, { hasMail: false });
        return isWritten;
      },
    },
    feed: { read: async (query = {}) => readFeed(open(), query) },
    changes: {
      watch: (listener) => {
        const call = (change: StoreChange): void => listener(change);
        const unsubscribe = (): void => void place.listeners.delete(call);
        open().listeners.add(call);
        unsubscribes.push(unsubscribe);
        return unsubscribe;
      },
    },
    close: async () => {
      isClosed = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
    },
  };
}

/** Creates a place on which several stores can be opened: for tests of what survives a process. The clock is that of the leases. */
export function createMemoryPlace({ clock = systemClock }: { readonly clock?: Clock } = {}): MemoryPlace {
  const place = createPlace(clock);
  return { open: () => openStore(place) };
}

/** Keeps sessions as long as the process lives. For tests and small hosts. */
export const createMemoryStore = (): SessionStore => createMemoryPlace().open();
