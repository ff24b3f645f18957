// A session store in one JSON file, for processes of one machine: an example of a store of your own.
// Owns:     what the ports of a SessionStore promise, as changes of plain data.
// Does not: know how the file is written (json-file.ts), or which input makes no sense (check-input.ts).
// Json-1. A change is refused before it has changed anything.
// Json-2. Every change reads and writes the whole file: this is for tens of sessions, and to be read.
// Json-3. There are no checksums. A file that is no longer JSON is refused as a whole; nothing else of damage is noticed.
import { createHash } from 'node:crypto';
import { InvalidArgumentError } from 'stepline';
import type { ClaimedSessions, ClaimQuery, EffectRow, FeedEntry, FeedPage, FeedQuery, LogEntry, Mail, MailQuery } from 'stepline/sessions';
import type { NewMail, NoteWrite, SessionDeletion, SessionHeader, SessionPage, SessionQuery, SessionStore } from 'stepline/sessions';
import type { SessionWrite, StoreChange, StoredNote, StoredWorker, WorkerInfo, WriteReceipt } from 'stepline/sessions';
import { LeaseLostError, MailWaitingError, SessionConflictError, SessionDeletedError } from 'stepline/sessions';
import { StoreUnavailableError, UnknownSessionError } from 'stepline/sessions';
import { checkDeletion, checkLimit, checkMail, checkNote, checkWrite, refuse } from './check-input.ts';
import type { JsonFile } from './json-file.ts';
import { openJsonFile } from './json-file.ts';

/** A session, and who runs it. */
interface Session {
  /** Counts sessions in the order in which they were created. */
  readonly num: number;
  header: SessionHeader;
  readonly entries: LogEntry[];
  effects: EffectRow[];
  mails: Mail[];
  /** Number of the last mail that was posted, and of the last one that was applied or refused. */
  posted: number;
  applied: number;
  fence: number;
  /** Worker that owns it, and the one that has owned it last. */
  worker?: string | undefined;
  last?: string | undefined;
  /** Time since which it waits for a worker. */
  readyAt: number;
  /** Workers that were lost in the open step, and the last of them. */
  attempts: number;
  blamed?: string | undefined;
  isStepping: boolean;
  isUrgent: boolean;
  damage?: string | undefined;
}

interface Worker {
  readonly info: WorkerInfo;
  room: number;
  beats: number;
  beatAt: number;
}

/** Everything in the file. */
interface Data {
  readonly kind: 'stepline-json-store-1';
  created: number;
  sessions: Session[];
  /** Digests of the ids of deleted sessions, with the times. */
  readonly deleted: { readonly digest: string; readonly at: number }[];
  workers: Worker[];
  notes: StoredNote[];
  fed: number;
  feed: { readonly num: number; readonly sessionId: string; readonly n: number }[];
  /** Counts the changes that those who watch are called back for. */
  changed: number;
}

const empty: Data = {
  ...{ kind: 'stepline-json-store-1', created: 0, sessions: [], deleted: [], workers: [] },
  ...{ notes: [], fed: 0, feed: [], changed: 0 },
};

const lookEveryMs = 50;
/** Time in which a session is left to the worker that had it last. */
const leftToLastMs = 200;
/** Sessions with urgent mail that a worker claims beyond its limit. */
const mostUrgent = 100;

function parse(text: string): Data {
  try {
    const data: unknown = JSON.parse(text);
    // Holds: only this store writes this kind.
    if (typeof data === 'object' && data !== null && 'kind' in data && data.kind === empty.kind) return data as Data;
  } catch {
    // Not JSON.
  }
  throw new StoreUnavailableError('not-a-store', 'the file is not a store of sessions');
}

const find = ({ sessions }: Data, sessionId: string): Session | undefined => sessions.find(({ header }) => header.id === sessionId);
const toDigest = (sessionId: string): string => createHash('sha256').update(sessionId).digest('hex');

function checkNotDeleted({ deleted }: Data, sessionId: string): void {
  const found = deleted.find(({ digest }) => digest === toDigest(sessionId));
  if (found !== undefined) throw new SessionDeletedError(sessionId, found.at);
}

const hasMail = ({ posted, applied }: Session): boolean => posted > applied;
const isReady = (session: Session): boolean => session.worker === undefined && (session.header.isOpen || hasMail(session));

const toHead = (session: Session) => ({
  ...{ header: session.header, head: session.entries.length, fence: session.fence, attempts: session.attempts },
  ...(session.worker !== undefined && { worker: session.worker }),
  ...(hasMail(session) && { lastMail: session.posted }),
});

// Log: writes.

const createSession = (num: number, header: SessionHeader): Session => ({
  ...{ num, header, entries: [], effects: [], mails: [], posted: 0, applied: 0, fence: 0 },
  ...{ readyAt: 0, attempts: 0, isStepping: false, isUrgent: false },
});

/** Throws unless the session is as the write says, and the worker may write to it. */
function checkFits(data: Data, session: Session | undefined, write: SessionWrite): void {
  const { sessionId, lease, after, entries = [], effects = [], mail } = write;
  // A session that exists says so to whoever would create it.
  if (session !== undefined && after > 0) {
    const owner = lease.type === 'held' ? lease.worker : undefined;
    if (session.worker !== owner || session.fence !== lease.fence) throw new LeaseLostError(sessionId);
    if (mail !== undefined && mail.num > session.posted) refuse(`Mail ${mail.num} was never posted`);
    if (write.isBehindMail === true && mail === undefined && hasMail(session)) throw new MailWaitingError(sessionId);
  }
  if (write.keepsLease && !data.workers.some(({ info }) => info.id === lease.worker)) throw new LeaseLostError(sessionId);
  const found = session?.entries.length ?? 0;
  if (found !== after || (after === 0 && session !== undefined)) throw new SessionConflictError(sessionId, { expected: after, found });
  for (const { requestId } of entries)
    if (requestId !== undefined && session?.entries.some((entry) => entry.requestId === requestId) === true)
      refuse(`The request "${requestId}" was answered before`);
  for (const { key, phase } of write.clearsEffects === true ? [] : effects)
    if (session?.effects.some((row) => row.key === key && row.phase === phase) === true) refuse(`The ${phase} of "${key}" is kept already`);
}

function applyMail(session: Session, { mail, dropsMail = [] }: SessionWrite): void {
  const answered = session.mails.map((each) =>
    each.num === mail?.num && mail.reply !== undefined ? { ...each, reply: mail.reply } : each,
  );
  session.mails = answered.filter(({ num }) => !dropsMail.includes(num) && (num !== mail?.num || mail.reply !== undefined));
  session.applied = Math.max(session.applied, mail?.num ?? 0);
  session.isUrgent &&= hasMail(session);
}

function applyLease(session: Session, { lease, keepsLease, clearsEffects, resetsAttempts, isStepping }: SessionWrite): void {
  const isTaken = lease.type === 'free';
  if (isTaken) session.fence += 1;
  session.worker = keepsLease ? lease.worker : undefined;
  session.last = lease.worker;
  if (!keepsLease) session.readyAt = Date.now();
  if (clearsEffects === true || resetsAttempts === true) Object.assign(session, { attempts: 0, blamed: undefined });
  session.isStepping = keepsLease && (isStepping ?? (!isTaken && session.isStepping));
}

function write(data: Data, given: SessionWrite): WriteReceipt {
  const { sessionId, header, entries = [], rewrites = [], effects = [], clearsEffects = false } = given;
  checkWrite(given);
  checkNotDeleted(data, sessionId);
  const stored = find(data, sessionId);
  checkFits(data, stored, given);
  const session = stored ?? (header === undefined ? undefined : createSession((data.created += 1), header));
  if (session === undefined) return refuse(`There is no session "${sessionId}"`);
  if (stored === undefined) data.sessions.push(session);
  session.header = header ?? session.header;
  for (const { n, body, events } of rewrites) {
    const { events: _, ...kept } = session.entries[n - 1] ?? refuse(`There is no entry ${n}`);
    session.entries[n - 1] = { ...kept, body, ...(events !== undefined && { events }) };
  }
  session.entries.push(...entries);
  for (const { n, events } of entries) if (events !== undefined) data.feed.push({ num: (data.fed += 1), sessionId, n });
  session.effects = [...(clearsEffects ? [] : session.effects), ...effects];
  applyMail(session, given);
  applyLease(session, given);
  data.changed += 1;
  return { hasMail: hasMail(session) };
}

function remove(data: Data, deletion: SessionDeletion): void {
  const { sessionId, at } = deletion;
  checkDeletion(deletion);
  const digest = toDigest(sessionId);
  if (!data.deleted.some((each) => each.digest === digest)) data.deleted.push({ digest, at });
  data.sessions = data.sessions.filter(({ header }) => header.id !== sessionId);
  data.feed = data.feed.filter((each) => each.sessionId !== sessionId);
  data.notes = data.notes.filter((each) => each.sessionId !== sessionId);
  data.changed += 1;
}

const createLog = (file: JsonFile<Data>): SessionStore['log'] => ({
  load: (sessionId) =>
    file.read((data) => {
      checkNotDeleted(data, sessionId);
      const session = find(data, sessionId);
      const snapshot = session?.entries.findLastIndex((entry) => entry.isSnapshot) ?? 0;
      return session && { ...toHead(session), entries: session.entries.slice(Math.max(0, snapshot)), effects: session.effects };
    }),
  entries: (sessionId, { from = 1, to = Infinity, afterSeq = -Infinity, limit = 1000 } = {}) =>
    file.read((data) =>
      (find(data, sessionId)?.entries ?? [])
        .filter(({ n, lastSeq = -Infinity }) => n >= from && n <= to && (afterSeq === -Infinity || lastSeq > afterSeq))
        .slice(0, checkLimit(limit)),
    ),
  findRequest: (sessionId, requestId) => file.read((data) => find(data, sessionId)?.entries.find((entry) => entry.requestId === requestId)),
  effects: (sessionId, { prefix = '', skip = 0 } = {}) =>
    file.read((data) => {
      checkLimit(skip + 1);
      const session = find(data, sessionId);
      const effects = session?.effects.filter(({ key }) => key.startsWith(prefix)).slice(skip) ?? [];
      return session && { header: session.header, head: session.entries.length, effects };
    }),
  write: (given) => file.change(write, given),
  delete: (deletion) => file.change(remove, deletion),
});

// Heads.

const fits = ({ header }: Session, { tag, wakeBefore, updatedBefore = Infinity, ...query }: SessionQuery): boolean =>
  (['tenant', 'agentName', 'owner', 'status', 'stopReason', 'isOpen'] as const).every(
    (key) => (query[key] ?? header[key]) === header[key],
  ) &&
  (tag === undefined || header.tags.includes(tag)) &&
  (wakeBefore === undefined || (header.wakeAt ?? Infinity) <= wakeBefore) &&
  header.updatedAt < updatedBefore;

/** Reads a cursor, which is a number behind a letter. */
function parseCursor(letter: string, cursor: string): number {
  if (cursor.startsWith(letter) && /^\d+$/.test(cursor.slice(1))) return Number(cursor.slice(1));
  throw new InvalidArgumentError(`Unknown cursor "${cursor}". Pass the cursor of the page before.`);
}

function list({ sessions }: Data, query: SessionQuery): SessionPage {
  const { limit = 100, cursor } = query;
  const before = cursor === undefined ? Infinity : parseCursor('s', cursor);
  const found = sessions.filter((session) => session.num < before && fits(session, query)).reverse();
  const page = found.slice(0, checkLimit(limit));
  return {
    sessions: page.map(({ header, damage }) => ({ id: header.id, header, ...(damage !== undefined && { damage }) })),
    ...(found.length > limit && { cursor: `s${page.at(-1)?.num ?? 0}` }),
  };
}

const createHeads = (file: JsonFile<Data>): SessionStore['heads'] => ({
  read: (sessionId) =>
    file.read((data) => {
      const session = find(data, sessionId);
      return session && toHead(session);
    }),
  list: (query = {}) => file.read((data) => list(data, query)),
  quarantine: (sessionId, damage) =>
    file.change((data) => {
      const session = find(data, sessionId);
      if (session !== undefined) session.damage = damage === undefined ? undefined : (session.damage ?? damage);
      data.changed += 1;
    }, undefined),
});

// Leases.

/** Makes sessions ready for other workers. If the worker was lost, each with an open step has one attempt more. */
function free(data: Data, sessions: readonly Session[], isLost: boolean): number {
  for (const session of sessions) {
    if (isLost && session.isStepping) Object.assign(session, { attempts: session.attempts + 1, blamed: session.worker });
    Object.assign(session, { worker: undefined, fence: session.fence + 1, readyAt: Date.now(), isStepping: false });
  }
  if (sessions.length > 0) data.changed += 1;
  return sessions.length;
}

function join(data: Data, { info, room, before }: { readonly info: WorkerInfo; readonly room: number; readonly before?: string }): void {
  data.workers = [...data.workers.filter((worker) => worker.info.id !== info.id), { info, room, beats: 1, beatAt: Date.now() }];
  for (const session of data.sessions)
    if (before !== undefined && session.blamed === before) Object.assign(session, { attempts: session.attempts - 1, blamed: undefined });
}

const isDue = (session: Session, now: number): boolean => isReady(session) || (session.header.wakeAt ?? Infinity) <= now;

function isLeftToLast({ workers }: Data, { last, readyAt }: Session, worker: string): boolean {
  const other = workers.find(({ info }) => info.id === last && info.id !== worker);
  return other !== undefined && other.room > 0 && Date.now() - readyAt < leftToLastMs;
}

/** Sorts sessions so that each tenant has its turn. Those that have cost workers come last. */
function sortFairly(sessions: readonly Session[]): readonly Session[] {
  const counts = new Map<string | undefined, number>();
  const ranked = [...sessions]
    .sort((one, other) => one.readyAt - other.readyAt)
    .map((session) => {
      const rank = (counts.get(session.header.tenant) ?? 0) + 1;
      counts.set(session.header.tenant, rank);
      return { session, rank: session.attempts > 0 ? Number.MAX_VALUE : rank };
    });
  return ranked.sort((one, other) => one.rank - other.rank).map(({ session }) => session);
}

function claim(data: Data, { worker, limit, agents, maxFormat, now, sessionIds, except = [] }: ClaimQuery): ClaimedSessions {
  if (!data.workers.some(({ info }) => info.id === worker)) return { sessions: [] };
  const all = data.sessions.filter(
    ({ header: { id, agentName, agentRelease, format }, ...session }) =>
      session.worker === undefined &&
      session.damage === undefined &&
      format <= maxFormat &&
      sessionIds?.includes(id) !== false &&
      !except.includes(id) &&
      agents.some(({ name, releases }) => name === agentName && releases?.includes(agentRelease) !== false),
  );
  const due = all.filter((session) => isDue(session, now) && (sessionIds !== undefined || !isLeftToLast(data, session, worker)));
  const sorted = sortFairly(due);
  const urgent = sorted.filter(({ isUrgent }) => isUrgent).slice(0, mostUrgent);
  const others = sorted.filter(({ isUrgent }) => !isUrgent).slice(0, Math.max(0, limit - urgent.length));
  const claimed = [...urgent, ...others];
  for (const session of claimed) Object.assign(session, { worker, last: worker, fence: session.fence + 1 });
  const wakes = all.flatMap((session) => (claimed.includes(session) || isDue(session, now) ? [] : (session.header.wakeAt ?? [])));
  return {
    sessions: claimed.map((session) => {
      const { header, entries, fence, attempts } = session;
      return { sessionId: header.id, fence, head: entries.length, attempts, hasMail: hasMail(session) };
    }),
    ...(wakes.length > 0 && { nextWakeAt: Math.min(...wakes) }),
  };
}

function listWorkers({ workers, sessions }: Data): readonly StoredWorker[] {
  return workers
    .map(({ info, room, beats, beatAt }) => {
      const owned = sessions.filter(({ worker }) => worker === info.id).length;
      return { ...info, room, beats, silentMs: Math.max(0, Date.now() - beatAt), sessions: owned };
    })
    .sort((one, other) => one.joinedAt - other.joinedAt);
}

const createLeases = (file: JsonFile<Data>): SessionStore['leases'] => ({
  join: (info, sign) => file.change(join, { info, ...sign }),
  beat: (id, room) =>
    file.change((data) => {
      const worker = data.workers.find(({ info }) => info.id === id);
      if (worker !== undefined) Object.assign(worker, { room, beats: worker.beats + 1, beatAt: Date.now() });
      return worker !== undefined;
    }, undefined),
  workers: () => file.read(listWorkers),
  free: (gone) =>
    file.change((data) => {
      const isThere = data.workers.some(({ info, beats }) => info.id === gone?.worker && beats === gone.beats);
      if (gone !== undefined && !isThere) return 0;
      data.workers = data.workers.filter(({ info }) => info.id !== gone?.worker);
      const lost = data.sessions.filter(({ worker }) => worker !== undefined && !data.workers.some(({ info }) => info.id === worker));
      return free(data, lost, true);
    }, undefined),
  claim: (query) => file.change(claim, query),
  leave: (id, sessionIds) =>
    file.change((data) => {
      if (sessionIds === undefined) data.workers = data.workers.filter(({ info }) => info.id !== id);
      const left = data.sessions.filter(({ worker, header }) => worker === id && sessionIds?.includes(header.id) !== false);
      free(data, left, false);
    }, undefined),
});

// Inbox.

function post(data: Data, given: NewMail): Mail | undefined {
  const { sessionId, requestId, at, body, isUrgent = false } = given;
  checkMail(given);
  checkNotDeleted(data, sessionId);
  const session = find(data, sessionId);
  if (session === undefined) throw new UnknownSessionError(sessionId);
  const known = session.mails.find((mail) => mail.requestId === requestId);
  if (known !== undefined) return known;
  if (session.entries.some((entry) => entry.requestId === requestId)) return undefined;
  if (session.worker === undefined && !isReady(session)) session.readyAt = Date.now();
  session.posted += 1;
  session.isUrgent ||= isUrgent;
  const mail = { num: session.posted, sessionId, requestId, at, body };
  session.mails.push(mail);
  data.changed += 1;
  return mail;
}

const readMail = ({ sessions }: Data, { sessionId, requestId, isWaiting, limit = 1000 }: MailQuery): readonly Mail[] =>
  sessions
    .flatMap(({ mails }) => mails)
    .filter((mail) => (sessionId ?? mail.sessionId) === mail.sessionId && (requestId ?? mail.requestId) === mail.requestId)
    .filter(({ reply }) => isWaiting === undefined || isWaiting === (reply === undefined))
    .slice(0, checkLimit(limit));

const createInbox = (file: JsonFile<Data>): SessionStore['inbox'] => ({
  post: (mail) => file.change(post, mail),
  read: (query = {}) => file.read((data) => readMail(data, query)),
  prune: (before) =>
    file.change((data) => {
      for (const session of data.sessions) session.mails = session.mails.filter(({ at, reply }) => reply === undefined || at >= before);
    }, undefined),
});

// Notes, feed, changes.

function writeNote(data: Data, given: NoteWrite): boolean {
  const { name, version, body, sessionId, isAnnounced = false } = given;
  checkNote(given);
  if (sessionId !== undefined && body !== undefined) checkNotDeleted(data, sessionId);
  if ((data.notes.find((note) => note.name === name)?.version ?? 0) !== version) return false;
  const others = data.notes.filter((note) => note.name !== name);
  const note = body === undefined ? [] : [{ name, version: version + 1, body, ...(sessionId !== undefined && { sessionId }) }];
  data.notes = [...others, ...note].sort((one, other) => (one.name < other.name ? -1 : 1));
  if (isAnnounced) data.changed += 1;
  return true;
}

const createNotes = (file: JsonFile<Data>): SessionStore['notes'] => ({
  read: (name) => file.read(({ notes }) => notes.find((note) => note.name === name)),
  list: ({ prefix, after = '', limit = 100 }) =>
    file.read(({ notes }) => notes.filter(({ name }) => name.startsWith(prefix) && name > after).slice(0, checkLimit(limit))),
  write: (note) => file.change(writeNote, note),
});

function readFeed(data: Data, { after = 'f0', isInclusive = false, tenant, limit = 200 }: FeedQuery): FeedPage {
  if (after === 'end') return { entries: [], cursor: `f${data.fed}`, hasMore: false };
  const place = parseCursor('f', after);
  const rest = data.feed.filter(({ num }) => num > place || (isInclusive && num === place));
  const page = rest.slice(0, checkLimit(limit));
  const entries = page.flatMap(({ num, sessionId, n }): readonly FeedEntry[] => {
    const { header, entries: log = [] } = find(data, sessionId) ?? {};
    const entry = log[n - 1];
    if (header === undefined || entry?.events === undefined || (tenant ?? header.tenant) !== header.tenant) return [];
    return [{ cursor: `f${num}`, sessionId, header, entry }];
  });
  return { entries, cursor: `f${page.at(-1)?.num ?? place}`, hasMore: rest.length > page.length };
}

/** Opens a store of sessions in a JSON file. Those who watch learn that something has changed, and not what. */
export function openJsonStore(path: string): SessionStore {
  const listeners = new Set<{ readonly call: (change: StoreChange) => void }>();
  let seen: number | undefined;
  const notify = ({ changed }: Data): void => {
    const isNews = changed !== (seen ?? changed);
    seen = changed;
    for (const { call } of isNews ? listeners : []) {
      try {
        call({ hasMail: true });
      } catch {
        // A listener that throws harms nobody.
      }
    }
  };
  const file = openJsonFile<Data>(path, { empty, parse, onLook: notify });
  const look = (): void => {
    if (listeners.size > 0) file.read(() => undefined).catch(() => undefined);
  };
  let timer: NodeJS.Timeout | undefined;
  const log = createLog(file);
  return {
    ...{ log, heads: createHeads(file), leases: createLeases(file), inbox: createInbox(file), notes: createNotes(file) },
    feed: { read: (query = {}) => file.read((data) => readFeed(data, query)) },
    changes: {
      watch: (call) => {
        file.checkOpen();
        const listener = { call };
        listeners.add(listener);
        look();
        timer ??= setInterval(look, lookEveryMs).unref();
        return () => void listeners.delete(listener);
      },
    },
    close: async () => {
      clearInterval(timer);
      listeners.clear();
      await file.close();
    },
  };
}
