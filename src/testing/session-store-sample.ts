import type { EffectRow } from '../journal/index.ts';
import { SteplineError } from '../lib/index.ts';
import type { LogEntry, SessionHeader, SessionStore, SessionWrite } from '../sessions/index.ts';
import { holds, same } from './conformance.ts';

/** A place that stores are opened on: a file, a database, a server. */
export interface SessionStorePlace {
  /** Another store on the same data each time: what another process would see. */
  open(): Promise<SessionStore>;
  /** Called at the end of each case, when its stores are closed. */
  dispose?(): Promise<void>;
}

/** What a case is given: an empty place, a store on it, and the number of its claim. */
export interface Stage {
  readonly store: SessionStore;
  readonly epoch: number;
  /** Another store on the same place. */
  readonly reopen: () => Promise<SessionStore>;
}

export type StoreCheck = (stage: Stage) => Promise<void>;

export const sampleHeader = (id: string, changes: Partial<SessionHeader> = {}): SessionHeader => ({
  id,
  agentId: 'agent',
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

type Change = Partial<Omit<SessionWrite, 'epoch' | 'sessionId'>>;

/** A write that makes a session with one entry. */
export const making = (sessionId: string, epoch: number, change: Change = {}): SessionWrite => ({
  sessionId,
  epoch,
  after: 0,
  header: sampleHeader(sessionId),
  entries: [sampleEntry(1)],
  ...change,
});

/** A write that adds an entry. */
export const adding = (sessionId: string, epoch: number, n: number): SessionWrite => ({
  sessionId,
  epoch,
  after: n - 1,
  entries: [sampleEntry(n)],
});

/** Makes a session with so many entries. */
export async function makeSession({ store, epoch }: Stage, sessionId: string, count = 1): Promise<void> {
  await store.write(making(sessionId, epoch));
  for (let n = 2; n <= count; n += 1) await store.write(adding(sessionId, epoch, n));
}

/** Fails the case unless the work rejects with an error of this code; gives the error. */
export async function refused(work: Promise<unknown>, code: string, what: string): Promise<SteplineError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  holds(error !== undefined, `${what} was not refused`);
  const why = error instanceof Error ? `${error.name}: ${error.message}` : 'with no error at all';
  holds(SteplineError.is(error) && error.code === code, `${what} was refused, but not with the code ${code}: ${why}`);
  return error;
}

/** Data with its fields in one order, whatever order a store gives them in. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, field]) => [key, ordered(field)]),
  );
}

/** `same`, for what a store gives back. */
export const sameData = (actual: unknown, expected: unknown, what: string): void => same(ordered(actual), ordered(expected), what);

/** Fails the case unless the session reads as before once the work was refused. */
export async function changesNothing({ store }: Stage, sessionId: string, work: () => Promise<unknown>): Promise<void> {
  const before = await store.load(sessionId);
  await work();
  sameData(await store.load(sessionId), before, 'the session after a refused write');
}

/** The ids of all sessions that fit, over as many pages as there are. */
export async function listedIds(store: SessionStore, query: Parameters<SessionStore['list']>[0] = {}): Promise<readonly string[]> {
  const { sessions, cursor } = await store.list(query);
  const ids = sessions.map(({ id }) => id);
  return cursor === undefined ? ids : [...ids, ...(await listedIds(store, { ...query, cursor }))];
}
