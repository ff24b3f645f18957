import { omitUndefined } from '../../lib/index.ts';
import type { RuntimeHealth } from '../core/session-runtime.ts';
import { RuntimeRole } from '../core/session-runtime.ts';
import { listAll } from '../store/session-store.ts';
import { readHolds } from './hold-gate.ts';
import type { SessionHost } from './session-host.ts';

type StoreHealth = Pick<RuntimeHealth, 'workers' | 'oldestOpenStep' | 'waitingActions' | 'holds'>;

async function findOldestOpenStep({ store }: SessionHost): Promise<RuntimeHealth['oldestOpenStep']> {
  let oldest: RuntimeHealth['oldestOpenStep'];
  for await (const { id, header } of listAll(store, { isOpen: true }))
    if (header !== undefined && (oldest === undefined || header.updatedAt < oldest.since))
      oldest = { sessionId: id, since: header.updatedAt };
  return oldest;
}

async function readStoreHealth(host: SessionHost): Promise<StoreHealth> {
  const { store } = host;
  const workers = await store.leases.workers();
  const waiting = await store.inbox.read({ isWaiting: true });
  const holds = await readHolds(store.notes);
  return omitUndefined({ workers, waitingActions: waiting.length, holds, oldestOpenStep: await findOldestOpenStep(host) });
}

/** Reads the condition of a runtime and of its store. Never throws: a store that cannot be read is a finding. */
export async function readHealth(host: SessionHost): Promise<RuntimeHealth> {
  const { options, closing } = host;
  const own = { role: options.role ?? RuntimeRole.Worker, isDraining: closing.aborted };
  try {
    return { ...own, isStoreReachable: true, ...(await readStoreHealth(host)) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...own, isStoreReachable: false, problem, workers: [], waitingActions: 0, holds: [] };
  }
}
