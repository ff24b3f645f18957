import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';

/** Source of ids. Each call returns a new one. */
export type IdSource = () => string;

// Chance is drawn for many ids at once, and turned into text three digits at a time: ids are made all the time.
const drawn = new Uint32Array(384);
let next = 384;
let digits: readonly string[] = [];

function refill(): void {
  if (digits.length === 0) digits = Array.from({ length: 4096 }, (_, value) => value.toString(16).padStart(3, '0'));
  crypto.getRandomValues(drawn);
  next = 0;
}

/** "xxx-yxxx-xxxxxxxxxxxx": 74 random bits with the variant already in place. */
function randomTail(): string {
  if (next + 3 > drawn.length) refill();
  const [one = 0, two = 0, three = 0] = drawn.subarray(next, next + 3);
  next += 3;
  const text = (bits: number): string => digits[bits & 0xfff] ?? '';
  const variant = '89ab'.charAt(one >>> 30);
  return `${text(one)}-${variant}${text(one >>> 12)}-${text(two)}${text(two >>> 12)}${text(three)}${text(three >>> 12)}`;
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
