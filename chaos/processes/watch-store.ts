// A store that records what was asked for and what was safe, and calls back at the spots where a worker can be killed.
import type { SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import type { Spot, WriteRecord } from './orders.ts';

export interface StoreWatch {
  readonly onSpot: (spot: Spot) => void;
  readonly onWrite: (record: WriteRecord) => void;
  readonly onSafe: () => void;
  readonly onClaimed: (epoch: number) => Promise<void>;
}

/** Spots around a write. */
function findSpots({ entries = [], effects = [], takesMail = [] }: SessionWrite): readonly [asked?: Spot | undefined, safe?: Spot] {
  if (takesMail.length > 0) return ['mail-asked', 'mail-safe'];
  if (entries.some(({ step }) => step !== undefined)) return ['step-asked', 'step-safe'];
  return effects.some(({ phase }) => phase === 'intent') ? [undefined, 'intent-safe'] : [];
}

export function watchStore(store: SessionStore, { onSpot, onWrite, onSafe, onClaimed }: StoreWatch): SessionStore {
  const record = (type: WriteRecord['type'], { sessionId: session, entries = [] }: SessionWrite): void => {
    for (const { n, step, isSnapshot } of entries) onWrite({ type, session, n, ...(step !== undefined && { step }), isSnapshot });
  };
  return {
    ...store,
    claims: {
      ...store.claims,
      claim: async (request) => {
        const epoch = await store.claims.claim(request);
        await onClaimed(epoch);
        return epoch;
      },
    },
    log: {
      ...store.log,
      write: async (write) => {
        const [asked, safe] = findSpots(write);
        record('asked', write);
        const writing = store.log.write(write);
        if (asked !== undefined) onSpot(asked);
        await writing;
        record('safe', write);
        onSafe();
        if (safe !== undefined) onSpot(safe);
      },
    },
  };
}
