import type { EffectRow } from '../journal/index.ts';
import { omitUndefined } from '../lib/index.ts';
import { parsePage, parseRange, checkWrite, refusedWrite } from './check-write.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import type {
  EntryQuery,
  ListedSession,
  LogEntry,
  SessionHeader,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionWrite,
  StoreHolder,
  StoredSession,
} from './session-store.ts';
import { StoreFencedError } from './store-fenced-error.ts';
import { StoreUnavailableError } from './store-unavailable-error.ts';

/** One session. Changed only by a write that was checked as a whole, so that a refused one leaves nothing behind. */
interface MemorySession {
  /** Counts sessions in the order in which they were made. */
  readonly num: number;
  header: SessionHeader;
  readonly entries: LogEntry[];
  effects: readonly EffectRow[];
}

interface Place {
  epoch: number;
  holder: StoreHolder | undefined;
  beats: number;
  readonly sessions: Map<string, MemorySession>;
  readonly damages: Map<string, string>;
}

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
  if (repeated !== undefined) throw refusedWrite(sessionId, `the request "${String(repeated.requestId)}" was answered before`);
  if (clearsEffects) return;
  const kept = effects.find(({ key, phase }) => before?.effects.some((row) => row.key === key && row.phase === phase));
  if (kept !== undefined) throw refusedWrite(sessionId, `the ${kept.phase} of "${kept.key}" is kept already`);
}

function checkEpoch({ epoch }: Place, own: number): void {
  if (own !== epoch) throw new StoreFencedError({ own, current: epoch });
}

function apply(place: Place, write: SessionWrite): void {
  const { sessions } = place;
  const { sessionId, header, entries = [], effects = [], clearsEffects = false } = write;
  checkEpoch(place, write.epoch);
  const before = sessions.get(sessionId);
  checkFits(write, before);
  const known = header === undefined ? before?.header : freezeHeader(header);
  if (known === undefined) throw refusedWrite(sessionId, 'a session is made with a header and its first entry');
  const session: MemorySession = before ?? { num: sessions.size + 1, header: known, entries: [], effects: [] };
  sessions.set(sessionId, session);
  session.header = known;
  session.entries.push(...entries.map(freezeCopy));
  session.effects = [...(clearsEffects ? [] : session.effects), ...effects.map(freezeCopy)];
}

const fits = (header: SessionHeader, { tag, wakeBefore, ...query }: SessionQuery): boolean =>
  (['tenant', 'agentId', 'owner', 'status', 'stopReason', 'isOpen'] as const).every(
    (field) => query[field] === undefined || query[field] === header[field],
  ) &&
  (tag === undefined || header.tags.includes(tag)) &&
  (wakeBefore === undefined || (header.wakeAt !== undefined && header.wakeAt <= wakeBefore));

function list({ sessions, damages }: Place, query: SessionQuery): SessionPage {
  const { limit, before = Infinity } = parsePage(query);
  const found = [...sessions.values()].reverse().filter(({ num, header }) => num < before && fits(header, query));
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
  const open = (): Place => {
    if (isClosed) throw new StoreUnavailableError('closed', 'the store in memory is closed');
    return place;
  };
  return {
    claim: async ({ holder, after } = {}) => {
      open();
      if (after !== undefined) checkEpoch(place, after);
      place.holder = holder && freezeCopy(holder);
      place.beats = 0;
      return (place.epoch += 1);
    },
    readClaim: async () => {
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
    write: async (write) => {
      open();
      checkWrite(write);
      apply(place, write);
    },
    load: async (sessionId) => {
      const session = open().sessions.get(sessionId);
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
    list: async (query = {}) => list(open(), query),
    quarantine: async (sessionId, damage) => {
      const isThere = open().sessions.has(sessionId);
      if (damage === undefined) place.damages.delete(sessionId);
      else if (isThere && !place.damages.has(sessionId)) place.damages.set(sessionId, damage);
    },
    close: async () => {
      isClosed = true;
    },
  };
}

/** A place to open stores on again and again: for tests of what survives a process. */
export function createMemoryPlace(): MemoryPlace {
  const place: Place = { epoch: 0, holder: undefined, beats: 0, sessions: new Map(), damages: new Map() };
  return { open: () => openStore(place) };
}

/** Keeps sessions as long as the process lives. For tests and small hosts. */
export const createMemoryStore = (): SessionStore => createMemoryPlace().open();
