// The workers of a store, seen from outside.
import { isProcessGone } from '../../lib/index.ts';
import type { Session, SessionStore, StoredWorker } from '../../sessions/index.ts';

/** `silent`: it hangs, or its machine is gone. `gone`: its process has ended, or its connection. */
export type WorkerState = 'alive' | 'silent' | 'gone';

/** A worker, and whether it lives. */
export interface FoundWorker extends StoredWorker {
  readonly state: WorkerState;
}

/** The reason why nobody applies an action on a session now. */
export type Obstacle = { readonly type: 'no-worker' } | { readonly type: 'no-agent'; readonly agentName: string };

/** Time without a sign of life after which a worker counts as silent, as runtimes judge it unless they are told otherwise. */
const silenceMs = 15_000;

/** Time without a sign of life after which a lost connection is not about to be replaced: three of them were missed. */
const lostMs = 1500;

function getState(worker: StoredWorker): WorkerState {
  const { silentMs, isConnected } = worker;
  if (isProcessGone(worker) || (isConnected === false && silentMs >= lostMs)) return 'gone';
  return silentMs < silenceMs ? 'alive' : 'silent';
}

/** Lists the workers of a store, by when they joined. */
export async function findWorkers({ leases }: Pick<SessionStore, 'leases'>): Promise<readonly FoundWorker[]> {
  const workers = await leases.workers();
  return workers.map((worker) => ({ ...worker, state: getState(worker) }));
}

export const isAlive = ({ state }: FoundWorker): boolean => state === 'alive';

/** Finds out why nobody would apply an action on a session now. Undefined if somebody would. */
export async function findObstacle(store: Pick<SessionStore, 'leases' | 'heads'>, sessionId: string): Promise<Obstacle | undefined> {
  const living = (await findWorkers(store)).filter(isAlive);
  if (living.length === 0) return { type: 'no-worker' };
  const agentName = (await store.heads.read(sessionId))?.header.agentName;
  if (agentName === undefined || living.some(({ agents }) => agents.includes(agentName))) return undefined;
  return { type: 'no-agent', agentName };
}

/** Describes who runs a session that is in progress. */
export async function describeRunner(store: Pick<SessionStore, 'leases' | 'heads'>, { id, worker }: Session): Promise<string> {
  if (worker === undefined) {
    const obstacle = await findObstacle(store, id);
    return obstacle === undefined
      ? 'nobody yet'
      : `nobody: no worker ${obstacle.type === 'no-worker' ? 'is alive' : `has ${obstacle.agentName}`}`;
  }
  const found = (await findWorkers(store)).find((each) => each.id === worker.id);
  if (found === undefined) return 'a worker that is gone';
  return isAlive(found) ? describeWorker(found) : `${describeWorker(found)}, which is ${found.state}`;
}

/** Describes the process of a worker, and its machine. */
export function describeProcess({ pid, host, id }: StoredWorker): string {
  const place = host === undefined ? '' : ` on ${host}`;
  return `${pid === undefined ? `process ${id}` : `process ${pid}`}${place}`;
}

/** Describes a worker: its name, process and machine. */
export const describeWorker = (worker: StoredWorker): string =>
  worker.name === undefined ? describeProcess(worker) : `"${worker.name}" (${describeProcess(worker)})`;
