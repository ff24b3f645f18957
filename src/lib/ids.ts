import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';

/** Where ids come from. Each call returns a new one. */
export type IdSource = () => string;

function randomTail(): string {
  // "xxx-yxxx-xxxxxxxxxxxx": 74 random bits with the variant already in place.
  return crypto.randomUUID().slice(15);
}

function timeHead(atMs: number): string {
  const time = Math.max(0, Math.floor(atMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

/** Makes UUIDv7 ids: they sort by the time of their making, to the millisecond. */
export function createIdSource(clock: Clock = systemClock): IdSource {
  let [madeAt, head] = [Number.NaN, ''];
  return () => {
    const now = clock.now();
    // Many ids are made within a millisecond.
    if (now !== madeAt) [madeAt, head] = [now, timeHead(now)];
    return head + randomTail();
  };
}

/** Ids on the machine's clock and randomness. */
export const systemIds: IdSource = createIdSource();

/** Ids that count up ("id-1", "id-2", …), for tests and other runs that must repeat exactly. */
export function createCountingIds(prefix = 'id'): IdSource {
  let count = 0;
  return () => `${prefix}-${String((count += 1))}`;
}
