import { omitUndefined } from '../../lib/index.ts';
import type { RuntimeHealth } from '../core/session-runtime.ts';
import { listAll } from '../store/session-store.ts';
import { readHolds } from './hold-gate.ts';
import type { SessionHost } from './session-host.ts';

type StoreHealth = Pick<RuntimeHealth, 'holder' | 'oldestOpenStep' | 'waitingActions' | 'holds'>;

async function findOldestOpenStep({ store }: SessionHost): Promise<RuntimeHealth['oldestOpenStep']> {
  let oldest: RuntimeHealth['oldestOpenStep'];
  for await (const { id, header } of listAll(store, { isOpen: true }))
    if (header !== undefined && (oldest === undefined || header.updatedAt < oldest.since))
      oldest = { sessionId: id, since: header.updatedAt };
  return oldest;
}

async function readStoreHealth(host: SessionHost): Promise<StoreHealth> {
  const { store } = host;
  const { holder } = await store.claims.read();
  const waiting = await store.inbox.read({ isWaiting: true });
  const holds = await readHolds(store.notes);
  return omitUndefined({ holder, waitingActions: waiting.length, holds, oldestOpenStep: await findOldestOpenStep(host) });
}

/** Reads the condition of a runtime and of its store. Never throws: a store that cannot be read is a finding. */
export async function readHealth(host: SessionHost): Promise<RuntimeHealth> {
  const { options, owner, closing } = host;
  const { role = 'both', standby = false } = options;
  const own = { role, isHolder: owner.holder === 'this' && !closing.aborted, isDraining: closing.aborted };
  const isStandby = standby && role !== 'client' && !own.isHolder && !closing.aborted;
  try {
    return { ...own, isStandby, isStoreReachable: true, ...(await readStoreHealth(host)) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { ...own, isStandby, isStoreReachable: false, problem, waitingActions: 0, holds: [] };
  }
}
