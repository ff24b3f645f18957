import type { EffectRow } from '../journal/index.ts';
import { SteplineError } from '../lib/index.ts';
import type {
  ClaimedSessions,
  ClaimQuery,
  Lease,
  LogEntry,
  Mail,
  NewMail,
  SessionHeader,
  SessionQuery,
  SessionStore,
  SessionWrite,
  StoredWorker,
  WorkerInfo,
  WriteReceipt,
} from '../sessions/index.ts';
import { holds, same } from './conformance.ts';

/** A place that stores are opened on: a file, a database, a server. */
export interface SessionStorePlace {
  /** Another store on the same data each time: what another process would see. */
  open(): Promise<SessionStore>;
  /** Called at the end of each case, when its stores are closed. */
  dispose?(): Promise<void>;
}

type Change = Partial<Omit<SessionWrite, 'sessionId'>>;

/** The surroundings of a case: an empty place, a store on it, a worker `w` without room that has joined, and ways to use them. */
export interface Stage {
  readonly store: SessionStore;
  /** Opens another store on the same place. */
  readonly reopen: () => Promise<SessionStore>;
  /** Writes after entry `after` of a session, as the worker `w`, which keeps it. */
  readonly write: (sessionId: string, after: number, change: Change) => Promise<WriteReceipt>;
  /** Creates a session with a header and one entry, unless the change has others. The worker `w` owns it with fence 1. */
  readonly create: (sessionId: string, change?: Change) => Promise<WriteReceipt>;
  /** Writes entry `n` of a session that the worker `w` created. */
  readonly append: (sessionId: string, n: number, change?: Change) => Promise<WriteReceipt>;
  /** Creates a session with `count` entries. */
  readonly fill: (sessionId: string, count: number) => Promise<void>;
  /** Creates a session that nobody owns, with fence 1: ready, or at rest if its header says that it is not open. */
  readonly createFree: (sessionId: string, header?: Partial<SessionHeader>) => Promise<WriteReceipt>;
  /** Adds a worker that runs the agent `agent`. */
  readonly join: (id: string, sign?: { readonly room?: number; readonly before?: string }) => Promise<void>;
  /** Claims up to 100 sessions of the agent `agent` for a worker, unless the change says otherwise. */
  readonly claim: (worker: string, change?: Partial<ClaimQuery>) => Promise<ClaimedSessions>;
  /** Claims, and returns the ids in alphabetical order. */
  readonly claimIds: (worker: string, change?: Partial<ClaimQuery>) => Promise<string>;
  /** Frees the sessions of a worker, as somebody who takes it for gone does. Returns their number. */
  readonly freeWorker: (id: string) => Promise<number>;
  /** Posts a mail that the log does not have yet. */
  readonly post: (requestId: string, change?: Partial<NewMail>) => Promise<Mail>;
  /** Lists the ids of all matching sessions, over as many pages as there are. */
  readonly listIds: (query?: SessionQuery) => Promise<readonly string[]>;
  /** Fails the case unless the work is rejected with this code and session `s` reads as before. */
  readonly refuses: (work: () => Promise<unknown>, code: string, name: string) => Promise<void>;
}

export type StoreCheck = (stage: Stage) => Promise<void>;

export const sampleHeader = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'agent',
  agentRelease: 'r1',
  format: 1,
  tags: [],
  status: 'in_progress',
  isOpen: true,
  createdAt: 1000,
  updatedAt: 1000,
  details: '{}',
  ...changes,
});

export const sampleEntry = (n: number, changes: Partial<LogEntry> = {}): LogEntry => ({
  n,
  at: 1000 + n,
  isSnapshot: n === 1,
  body: `{"n":${n}}`,
  ...changes,
});

export const sampleEffect = (key: string, phase: EffectRow['phase'] = 'result'): EffectRow => ({ key, phase, body: `{"of":"${key}"}` });

export const sampleMail = (requestId: string, changes: Partial<NewMail> = {}): NewMail => ({
  sessionId: 's',
  requestId,
  at: 1000,
  body: `{"r":"${requestId}"}`,
  ...changes,
});

export const sampleWorker = (id: string): WorkerInfo => ({ id, joinedAt: 1000, agents: ['agent'] });

/** The lease of a worker that owns a session. */
export const toHeldLease = (fence = 1, worker = 'w'): Lease => ({ worker, fence, type: 'held' });

/** The lease for a session that nobody owns. */
export const toFreeLease = (fence: number, worker = 'w'): Lease => ({ worker, fence, type: 'free' });

/** The owner, fence and attempts of a session that the worker `w` created. */
export const owned = { fence: 1, worker: 'w', attempts: 0 };

/** A write that creates a session with one entry. */
export const newSession = (sessionId: string, change: Change = {}): SessionWrite => ({
  sessionId,
  lease: toFreeLease(0),
  keepsLease: true,
  after: 0,
  header: sampleHeader(sessionId),
  entries: [sampleEntry(1)],
  ...change,
});

/** A write that adds entry `n`. */
export const nextEntry = (sessionId: string, n: number, change: Change = {}): SessionWrite => ({
  sessionId,
  lease: toHeldLease(),
  keepsLease: true,
  after: n - 1,
  entries: [sampleEntry(n)],
  ...change,
});

/** Fails the case unless the work rejects with an error of this code; returns the error. */
export async function assertRefused(work: Promise<unknown>, code: string, what: string): Promise<SteplineError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  holds(error !== undefined, `${what} was not refused`);
  const why = error instanceof Error ? `${error.name}: ${error.message}` : 'with no error at all';
  holds(SteplineError.is(error) && error.code === code, `${what} was refused, but not with the code ${code}: ${why}`);
  return error;
}

/** Posts a mail that the log does not have yet. */
export async function postMail(store: SessionStore, mail: NewMail): Promise<Mail> {
  const posted = await store.inbox.post(mail);
  holds(posted !== undefined, `the mail "${mail.requestId}" was not posted: the log is said to have it`);
  return posted;
}

/** Finds a worker that has joined. */
export async function findWorker(store: SessionStore, id: string): Promise<StoredWorker> {
  const found = (await store.leases.workers()).find((worker) => worker.id === id);
  holds(found !== undefined, `the worker "${id}" is not among the workers`);
  return found;
}

async function listIds(store: SessionStore, query: SessionQuery = {}): Promise<readonly string[]> {
  const { sessions, cursor } = await store.heads.list(query);
  const ids = sessions.map(({ id }) => id);
  return cursor === undefined ? ids : [...ids, ...(await listIds(store, { ...query, cursor }))];
}

/** Ids of claimed sessions, in alphabetical order. */
export const toIds = ({ sessions }: ClaimedSessions): string =>
  sessions
    .map(({ sessionId }) => sessionId)
    .sort()
    .join(' ');

/** Ways to use a store. */
function createStage(store: SessionStore, reopen: Stage['reopen']): Stage {
  const create: Stage['create'] = (id, change) => store.log.write(newSession(id, change));
  const append: Stage['append'] = (id, n, change) => store.log.write(nextEntry(id, n, change));
  const claim: Stage['claim'] = (worker, change) =>
    store.leases.claim({ worker, limit: 100, agents: [{ name: 'agent' }], maxFormat: 1, now: 1000, ...change });
  return {
    ...{ store, reopen, create, append, claim },
    write: (sessionId, after, change) => store.log.write({ sessionId, lease: toHeldLease(), keepsLease: true, after, ...change }),
    fill: async (id, count) => {
      await create(id);
      for (let n = 2; n <= count; n += 1) await append(id, n);
    },
    createFree: (id, header) => create(id, { keepsLease: false, header: sampleHeader(id, header) }),
    join: (id, { room = 10, before } = {}) => store.leases.join(sampleWorker(id), { room, ...(before !== undefined && { before }) }),
    claimIds: async (worker, change) => toIds(await claim(worker, change)),
    freeWorker: async (id) => store.leases.free({ worker: id, beats: (await findWorker(store, id)).beats }),
    post: (requestId, change) => postMail(store, sampleMail(requestId, change)),
    listIds: (query) => listIds(store, query),
    refuses: async (work, code, name) => {
      const before = await store.log.load('s');
      await assertRefused(work(), code, name);
      same(await store.log.load('s'), before, 'the session after a refused write');
    },
  };
}

/** Runs a check on an empty place. */
export async function runCheck(place: SessionStorePlace, check: StoreCheck): Promise<void> {
  const opened: SessionStore[] = [];
  const reopen = async (): Promise<SessionStore> => {
    const store = await place.open();
    opened.push(store);
    return store;
  };
  try {
    const store = await reopen();
    // Without room, so that no other worker has to leave it the sessions that it had.
    await store.leases.join(sampleWorker('w'), { room: 0 });
    await check(createStage(store, reopen));
  } finally {
    for (const store of opened) await store.close();
    await place.dispose?.();
  }
}
