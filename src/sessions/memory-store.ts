import type { EffectRow } from '../journal/index.ts';
import { checkedPage, checkedRange, checkWrite, refusedWrite } from './check-write.ts';
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
  StoredSession,
} from './session-store.ts';
import { StoreFencedError } from './store-fenced-error.ts';
import { StoreUnavailableError } from './store-unavailable-error.ts';

/** One session. Changed only by a write that was checked as a whole, so that a refused one leaves nothing behind. */
interface Kept {
  /** Counts sessions in the order in which they were made. */
  readonly num: number;
  header: SessionHeader;
  readonly entries: LogEntry[];
  effects: readonly EffectRow[];
}

interface Place {
  epoch: number;
  readonly sessions: Map<string, Kept>;
  readonly damages: Map<string, string>;
}

/** A place in memory that outlives the stores opened on it, as a file outlives processes. */
export interface MemoryPlace {
  /** Another store on the same sessions. */
  open(): SessionStore;
}

const copyOf = <Row extends object>(row: Row): Row => Object.freeze({ ...row });
const headerCopy = (header: SessionHeader): SessionHeader => copyOf({ ...header, tags: Object.freeze([...header.tags]) });

function checkFits(write: SessionWrite, before: Kept | undefined): void {
  const { sessionId, after } = write;
  const head = before?.entries.length ?? 0;
  if (after === 0 ? before !== undefined : head !== after) throw new SessionConflictError(sessionId, { expected: after, found: head });
  for (const { requestId } of write.entries ?? []) {
    if (requestId === undefined || !before?.entries.some((entry) => entry.requestId === requestId)) continue;
    throw refusedWrite(sessionId, `the request "${requestId}" was answered before`);
  }
  if (write.clearsEffects === true) return;
  for (const { key, phase } of write.effects ?? []) {
    if (!before?.effects.some((kept) => kept.key === key && kept.phase === phase)) continue;
    throw refusedWrite(sessionId, `the ${phase} of "${key}" is kept already`);
  }
}

function newSession({ sessions }: Place, { sessionId, header }: SessionWrite): Kept {
  // Holds because checkWrite lets no write make a session without its header.
  const kept: Kept = { num: sessions.size + 1, header: header as SessionHeader, entries: [], effects: [] };
  sessions.set(sessionId, kept);
  return kept;
}

function apply(place: Place, write: SessionWrite): void {
  if (write.epoch !== place.epoch) throw new StoreFencedError({ own: write.epoch, current: place.epoch });
  const before = place.sessions.get(write.sessionId);
  checkFits(write, before);
  const kept = before ?? newSession(place, write);
  if (write.header !== undefined) kept.header = headerCopy(write.header);
  for (const entry of write.entries ?? []) kept.entries.push(copyOf(entry));
  kept.effects = [...(write.clearsEffects === true ? [] : kept.effects), ...(write.effects ?? []).map(copyOf)];
}

const fits = (header: SessionHeader, { tag, wakeBefore, ...query }: SessionQuery): boolean =>
  (['tenant', 'agentId', 'owner', 'status', 'stopReason', 'isOpen'] as const).every(
    (field) => query[field] === undefined || query[field] === header[field],
  ) &&
  (tag === undefined || header.tags.includes(tag)) &&
  (wakeBefore === undefined || (header.wakeAt !== undefined && header.wakeAt <= wakeBefore));

function listed({ header }: Kept, damage: string | undefined): ListedSession {
  return { id: header.id, header, ...(damage !== undefined && { damage }) };
}

function list({ sessions, damages }: Place, query: SessionQuery): SessionPage {
  const { limit, before = Infinity } = checkedPage(query);
  const found = [...sessions.values()].reverse().filter(({ num, header }) => num < before && fits(header, query));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    sessions: page.map((kept) => listed(kept, damages.get(kept.header.id))),
    ...(last !== undefined && found.length > limit && { cursor: String(last.num) }),
  };
}

function load(kept: Kept): StoredSession {
  const { header, entries, effects } = kept;
  const snapshot = entries.findLastIndex(({ isSnapshot }) => isSnapshot);
  return { header, head: entries.length, entries: entries.slice(Math.max(0, snapshot)), effects: [...effects] };
}

function entriesOf({ entries }: Kept, query: EntryQuery): readonly LogEntry[] {
  const { from, to, limit } = checkedRange(query, entries.length);
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
    claim: async () => (open().epoch += 1),
    write: async (write) => {
      open();
      checkWrite(write);
      apply(place, write);
    },
    load: async (sessionId) => {
      const kept = open().sessions.get(sessionId);
      return kept && load(kept);
    },
    entries: async (sessionId, query = {}) => {
      const kept = open().sessions.get(sessionId);
      return kept === undefined ? [] : entriesOf(kept, query);
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
  const place: Place = { epoch: 0, sessions: new Map(), damages: new Map() };
  return { open: () => openStore(place) };
}

/** Keeps sessions as long as the process lives. For tests and small hosts. */
export const createMemoryStore = (): SessionStore => createMemoryPlace().open();
