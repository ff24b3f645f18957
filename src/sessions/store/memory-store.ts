import { omitUndefined } from '../../lib/index.ts';
import { checkRewrite, checkWrite, parseEffectQuery, parsePage, parseRange, createWriteError } from './check-write.ts';
import { SessionConflictError } from '../core/session-conflict-error.ts';
import { StoreUnavailableError } from '../core/store-unavailable-error.ts';
import { addToFeed, listNotes, readFeed, writeNote } from './memory-feed.ts';
import type { MemorySession, Place } from './memory-place.ts';
import { answerMail, checkEpoch, checkNotDeleted, createPlace, noteTags, notify, post, readMail, remove } from './memory-place.ts';
import type {
  Claims,
  EffectQuery,
  EntryQuery,
  Heads,
  Inbox,
  ListedSession,
  Log,
  LogEntry,
  OpenEffects,
  SessionHeader,
  SessionPage,
  SessionQuery,
  SessionRewrite,
  SessionStore,
  SessionWrite,
  StoreChange,
  StoredSession,
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

function apply(place: Place, write: SessionWrite): void {
  const { sessions } = place;
  const { sessionId, header, entries = [], effects = [], clearsEffects = false, takesMail = [] } = write;
  checkEpoch(place, write.epoch);
  checkNotDeleted(place, sessionId);
  const before = sessions.get(sessionId);
  checkFits(write, before);
  const known = header === undefined ? before?.header : freezeHeader(header);
  if (known === undefined) throw createWriteError(sessionId, 'a new session needs a header and its first entry');
  if (before === undefined) place.created += 1;
  const session: MemorySession = before ?? { num: place.created, header: known, entries: [], effects: [] };
  sessions.set(sessionId, session);
  noteTags(place, { sessionId, tags: known.tags, before: before?.header.tags });
  session.header = known;
  session.entries.push(...entries.map(freezeCopy));
  addToFeed(place, sessionId, entries);
  session.effects = [...(clearsEffects ? [] : session.effects), ...effects.map(freezeCopy)];
  for (const num of takesMail) place.mail.delete(num);
}

function rewrite(place: Place, change: SessionRewrite): void {
  const { sessionId, epoch, after, header, entries } = change;
  checkRewrite(change);
  checkEpoch(place, epoch);
  checkNotDeleted(place, sessionId);
  const session = place.sessions.get(sessionId);
  const head = session?.entries.length ?? 0;
  if (session === undefined || head !== after) throw new SessionConflictError(sessionId, { expected: after, found: head });
  for (const { n, body, events } of entries) {
    // Holds: the numbers were checked against the head.
    const { events: _, ...before } = session.entries[n - 1] as LogEntry;
    session.entries[n - 1] = freezeCopy({ ...before, body, ...omitUndefined({ events }) });
  }
  if (header === undefined) return;
  noteTags(place, { sessionId, tags: header.tags, before: session.header.tags });
  session.header = freezeHeader(header);
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

function load(session: MemorySession): StoredSession {
  const { header, entries, effects } = session;
  const snapshot = entries.findLastIndex(({ isSnapshot }) => isSnapshot);
  return { header, head: entries.length, entries: entries.slice(Math.max(0, snapshot)), effects: [...effects] };
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
      apply(place, write);
      notify(place, { sessionIds: [write.sessionId], hasMail: false });
    },
    rewrite: async (change) => {
      rewrite(open(), change);
      notify(place, { sessionIds: [change.sessionId], hasMail: false });
    },
    delete: async (deletion) => {
      remove(open(), deletion);
      notify(place, { sessionIds: [deletion.sessionId], hasMail: false });
    },
  };
  const heads: Heads = {
    read: async (sessionId) => {
      const session = open().sessions.get(sessionId);
      return session && { header: session.header, head: session.entries.length };
    },
    list: async (query = {}) => list(open(), query),
    quarantine: async (sessionId, damage) => {
      const isThere = open().sessions.has(sessionId);
      if (damage === undefined) place.damages.delete(sessionId);
      else if (isThere && !place.damages.has(sessionId)) place.damages.set(sessionId, damage);
      notify(place, { sessionIds: [sessionId], hasMail: false });
    },
  };
  const claims: Claims = {
    claim: async ({ holder, after } = {}) => {
      open();
      if (after !== undefined) checkEpoch(place, after);
      place.holder = holder && freezeCopy(holder);
      place.beats = 0;
      return (place.epoch += 1);
    },
    read: async () => {
      const { epoch, holder, beats } = open();
      return omitUndefined({ epoch, holder, beats });
    },
    beat: async (epoch) => {
      checkEpoch(open(), epoch);
      place.beats += 1;
    },
    release: async (epoch) => {
      checkEpoch(open(), epoch);
      place.holder = undefined;
      place.beats = 0;
    },
  };
  const inbox: Inbox = {
    post: async (mail) => {
      const posted = post(open(), mail);
      notify(place, { sessionIds: [mail.sessionId], hasMail: true });
      return posted;
    },
    read: async (query = {}) => readMail(open(), query),
    answer: async (answer) => {
      const mail = answerMail(open(), answer);
      if (mail !== undefined) notify(place, { sessionIds: [mail.sessionId], hasMail: false });
    },
  };
  return {
    log,
    heads,
    claims,
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

/** Creates a place on which several stores can be opened: for tests of what survives a process. */
export function createMemoryPlace(): MemoryPlace {
  const place = createPlace();
  return { open: () => openStore(place) };
}

/** Keeps sessions as long as the process lives. For tests and small hosts. */
export const createMemoryStore = (): SessionStore => createMemoryPlace().open();
