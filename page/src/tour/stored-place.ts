// The place in the tour, kept in this tab. A browser may refuse its storage: a reload then ends the tour.
import type { TourAct } from './use-tour.ts';

const key = 'stepline-tour';

export interface TourPlace {
  readonly acts: readonly TourAct[];
  /** Place of the current act; -1 if the tour is not on. */
  readonly place: number;
}

const off: TourPlace = { acts: [], place: -1 };

/** Reads the place in a tour. */
export function readPlace(tour: string | undefined): TourPlace {
  try {
    // Holds: storePlace() wrote it.
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as ({ readonly tour: string } & TourPlace) | null;
    return stored !== null && stored.tour === tour && stored.acts[stored.place] !== undefined ? stored : off;
  } catch {
    return off;
  }
}

/** Keeps the place in a tour. */
export function storePlace(tour: string | undefined, place: TourPlace): void {
  try {
    if (place.place < 0) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify({ tour, ...place }));
  } catch {
    // It then counts until the page is reloaded.
  }
}
