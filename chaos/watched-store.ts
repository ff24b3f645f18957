// A store that notes what it says to be safe, and can hold the process around each write.
import type { SessionStore, SessionWrite } from '../src/sessions/index.ts';
import type { Place } from './orders.ts';

export interface Watch {
  /** The process has come to a place. */
  readonly reach: (place: Place) => void;
  /** The store has said that this is safe. */
  readonly onSafe: (write: SessionWrite) => void;
  /** The store has refused a write, or could not be used. */
  readonly onRefused: (write: SessionWrite, error: unknown) => void;
  /** A sign of life is asked for, which waits for the promise. */
  readonly onBeat: () => Promise<void>;
  /** Sessions of other workers were freed. */
  readonly onFreed: () => void;
}

interface WritePlaces {
  readonly asked: Place;
  readonly safe?: Place;
}

function findPlaces({ entries = [], effects = [], after }: SessionWrite): WritePlaces | undefined {
  if (entries.some(({ step }) => step !== undefined)) return { asked: 'commit-asked', safe: 'commit-safe' };
  if (entries.length > 0 && after > 0) return { asked: 'act-asked', safe: 'act-safe' };
  if (effects.some(({ phase }) => phase === 'intent')) return { asked: 'intent-asked', safe: 'intent-safe' };
  return effects.length > 0 ? { asked: 'result-asked' } : undefined;
}

export function watchedStore(store: SessionStore, { reach, onSafe, onRefused, onBeat, onFreed }: Watch): SessionStore {
  return {
    ...store,
    leases: {
      ...store.leases,
      beat: async (worker, room) => {
        await onBeat();
        return store.leases.beat(worker, room);
      },
      free: async (gone) => {
        const freed = await store.leases.free(gone);
        if (freed > 0) onFreed();
        return freed;
      },
    },
    log: {
      ...store.log,
      write: async (write) => {
        const places = findPlaces(write);
        const writing = store.log.write(write);
        if (places !== undefined) reach(places.asked);
        const receipt = await writing.catch((error: unknown) => {
          onRefused(write, error);
          throw error;
        });
        onSafe(write);
        if (places?.safe !== undefined) reach(places.safe);
        return receipt;
      },
      load: async (sessionId) => {
        reach('loading');
        return store.log.load(sessionId);
      },
    },
  };
}
