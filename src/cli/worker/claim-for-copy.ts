import type { Clock, IdSource } from '../../lib/index.ts';
import { readProcessIdentity } from '../../lib/index.ts';
import type { SessionStore } from '../../sessions/index.ts';
import { unavailableError } from '../failures.ts';
import { describeHolder, findWorker } from './find-worker.ts';

/** A claim on a store for as long as a copy takes. */
export interface CopyClaim {
  readonly epoch: number;
  /** Throws if another process has taken the store. */
  check(): void;
  release(): Promise<void>;
}

const heartbeatMs = 500;

/** Throws if a live process holds the store. */
export async function assertUnused(store: SessionStore, clock: Clock, name: string): Promise<void> {
  const worker = await findWorker(store, clock);
  if (worker.type === 'alive')
    throw unavailableError(`The ${name} is in use by ${describeHolder(worker.holder)}. Stop that process first. Nothing was copied.`);
}

/** Claims a store, so that no worker changes it meanwhile. */
export async function claimForCopy(
  store: SessionStore,
  { clock, ids }: { readonly clock: Clock; readonly ids: IdSource },
): Promise<CopyClaim> {
  const { epoch: before } = await store.claims.read();
  const holder = { ...readProcessIdentity(), id: ids(), name: 'stepline copy', claimedAt: clock.now() };
  const epoch = await store.claims.claim({ holder, after: before });
  let problem: { readonly error: unknown } | undefined;
  let cancel = (): void => undefined;
  const beat = async (): Promise<void> => {
    try {
      await store.claims.beat(epoch);
      cancel = clock.schedule(heartbeatMs, () => void beat(), true);
    } catch (error) {
      problem = { error };
    }
  };
  cancel = clock.schedule(heartbeatMs, () => void beat(), true);
  return {
    epoch,
    check: () => {
      if (problem !== undefined) throw problem.error;
    },
    release: async () => {
      cancel();
      await store.claims.release(epoch);
    },
  };
}
