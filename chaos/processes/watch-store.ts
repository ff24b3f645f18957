// A store that records what was safe and refused, and calls back at the spots where a worker can be killed.
import type { SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import type { Report, Spot, WriteRecord } from './orders.ts';
import { readCode } from './report.ts';

export interface StoreWatch {
  readonly onSpot: (spot: Spot) => void;
  readonly onWrite: (record: WriteRecord) => void;
  readonly report: (report: Report) => void;
}

/** Spots around a write. */
function findSpots({ entries = [], effects = [], mail }: SessionWrite): readonly [asked?: Spot | undefined, safe?: Spot] {
  if (mail !== undefined) return ['mail-asked', 'mail-safe'];
  if (entries.some(({ step }) => step !== undefined)) return ['step-asked', 'step-safe'];
  return effects.some(({ phase }) => phase === 'intent') ? [undefined, 'intent-safe'] : [];
}

/** Refusals that say that another worker writes to the session. */
const refusals = ['lease-lost', 'session-conflict'];

export function watchStore(store: SessionStore, { onSpot, onWrite, report }: StoreWatch): SessionStore {
  return {
    ...store,
    leases: {
      ...store.leases,
      join: async (worker, sign) => {
        await store.leases.join(worker, sign);
        report({ type: 'joined', id: worker.id, ...(sign.before !== undefined && { before: sign.before }) });
      },
      claim: async (query) => {
        const found = await store.leases.claim(query);
        const sessionIds = found.sessions.map(({ sessionId }) => sessionId);
        if (sessionIds.length > 0) report({ type: 'claimed', at: Date.now(), sessionIds });
        return found;
      },
    },
    log: {
      ...store.log,
      write: async (write) => {
        const { sessionId: session, lease, entries = [] } = write;
        const [asked, safe] = findSpots(write);
        const writing = store.log.write(write);
        if (asked !== undefined) onSpot(asked);
        try {
          const receipt = await writing;
          const fence = lease.type === 'free' ? lease.fence + 1 : lease.fence;
          for (const { n, step } of entries) onWrite({ session, n, worker: lease.worker, fence, ...(step !== undefined && { step }) });
          if (safe !== undefined) onSpot(safe);
          return receipt;
        } catch (error) {
          const code = readCode(error);
          if (refusals.includes(code)) report({ type: 'refused', code, session });
          throw error;
        }
      },
    },
  };
}
