import type { EffectRow } from '../journal/index.ts';
import { SteplineError } from '../lib/index.ts';
import type { LogEntry, SessionHeader, SessionQuery, SessionStore, SessionWrite } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';

/** A place that stores are opened on: a file, a database, a server. */
export interface SessionStorePlace {
  /** Another store on the same data each time: what another process would see. */
  open(): Promise<SessionStore>;
  /** Called at the end of each case, when its stores are closed. */
  dispose?(): Promise<void>;
}

type Change = Partial<Omit<SessionWrite, 'epoch' | 'sessionId'>>;

/** The surroundings of a case: an empty place, a store on it that has claimed it, and ways to use them. */
export interface Stage {
  readonly store: SessionStore;
  /** Number of the store's claim. */
  readonly epoch: number;
  /** Opens another store on the same place. */
  readonly reopen: () => Promise<SessionStore>;
  /** Writes after entry `after` of a session. */
  readonly write: (sessionId: string, after: number, change: Change) => Promise<void>;
  /** Creates a session with a header and one entry, unless the change has others. */
  readonly create: (sessionId: string, change?: Change) => Promise<void>;
  /** Writes entry `n` of a session. */
  readonly append: (sessionId: string, n: number, change?: Change) => Promise<void>;
  /** Creates a session with `count` entries. */
  readonly fill: (sessionId: string, count: number) => Promise<void>;
  /** Lists the ids of all matching sessions, over as many pages as there are. */
  readonly listIds: (query?: SessionQuery) => Promise<readonly string[]>;
  /** Fails the case unless the work is rejected with this code and session `s` reads as before. */
  readonly refuses: (work: () => Promise<unknown>, code: string, name: string) => Promise<void>;
}

export type StoreCheck = (stage: Stage) => Promise<void>;

export const sampleHeader = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentName: 'agent',
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

/** A write that creates a session with one entry. */
export const newSession = (sessionId: string, epoch: number, change: Change = {}): SessionWrite => ({
  sessionId,
  epoch,
  after: 0,
  header: sampleHeader(sessionId),
  entries: [sampleEntry(1)],
  ...change,
});

/** A write that adds entry `n`. */
export const nextEntry = (sessionId: string, epoch: number, n: number): SessionWrite => ({
  sessionId,
  epoch,
  after: n - 1,
  entries: [sampleEntry(n)],
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

async function listIds(store: SessionStore, query: SessionQuery = {}): Promise<readonly string[]> {
  const { sessions, cursor } = await store.heads.list(query);
  const ids = sessions.map(({ id }) => id);
  return cursor === undefined ? ids : [...ids, ...(await listIds(store, { ...query, cursor }))];
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
    const epoch = await store.claims.claim();
    const append: Stage['append'] = (id, n, change) => store.log.write({ ...nextEntry(id, epoch, n), ...change });
    const create: Stage['create'] = (id, change) => store.log.write(newSession(id, epoch, change));
    await check({
      store,
      epoch,
      reopen,
      create,
      append,
      write: (sessionId, after, change) => store.log.write({ sessionId, epoch, after, ...change }),
      fill: async (id, count) => {
        await create(id);
        for (let n = 2; n <= count; n += 1) await append(id, n);
      },
      listIds: (query) => listIds(store, query),
      refuses: async (work, code, name) => {
        const before = await store.log.load('s');
        await assertRefused(work(), code, name);
        same(await store.log.load('s'), before, 'the session after a refused write');
      },
    });
  } finally {
    for (const store of opened) await store.close();
    await place.dispose?.();
  }
}
