// A store that notes what it says to be safe, and can hold the process around each write.
import type { SessionStore, SessionWrite } from '../src/sessions/index.ts';
import type { Place } from './orders.ts';

export interface Watch {
  /** The process has come to a place. */
  readonly reach: (place: Place) => void;
  /** The store has said that this is safe. */
  readonly onSafe: (write: SessionWrite) => void;
  readonly onClaimed: () => Promise<void>;
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

export function watchedStore(store: SessionStore, { reach, onSafe, onClaimed }: Watch): SessionStore {
  return {
    ...store,
    claims: {
      ...store.claims,
      claim: async () => {
        const epoch = await store.claims.claim();
        await onClaimed();
        return epoch;
      },
    },
    log: {
      ...store.log,
      write: async (write) => {
        const places = findPlaces(write);
        const writing = store.log.write(write);
        if (places !== undefined) reach(places.asked);
        await writing;
        onSafe(write);
        if (places?.safe !== undefined) reach(places.safe);
      },
      load: async (sessionId) => {
        reach('loading');
        return store.log.load(sessionId);
      },
    },
  };
}
