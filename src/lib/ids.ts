import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';

/** Source of ids. Each call returns a new one. */
export type IdSource = () => string;

// Random bytes are drawn for many ids at once.
const drawn = new Uint32Array(256);
let next = drawn.length;

/** Three hexadecimal digits of each number below 4,096. A table, because ids are created all the time. */
let digits: readonly string[] = [];
const countsPerTail = 4096;

function drawNumber(): number {
  if (next === drawn.length) {
    crypto.getRandomValues(drawn);
    next = 0;
  }
  const number = drawn[next] ?? 0;
  next += 1;
  return number;
}

const toHex = (number: number): string => number.toString(16).padStart(8, '0');

/** "-yxxx-xxxxxxxxxxxx": 62 random bits with the variant already in place. */
function drawTail(): string {
  const [first, second] = [toHex(((drawNumber() & 0x3fffffff) | 0x80000000) >>> 0), toHex(drawNumber())];
  return `-${first.slice(0, 4)}-${first.slice(4)}${second}`;
}

function timeHead(atMs: number): string {
  const time = Math.max(0, Math.floor(atMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

/**
 * Creates UUIDv7 ids: the time in milliseconds, a counter within the millisecond, and 62 random bits. They sort by creation time. The random
 * bits change only with the millisecond or when the counter is used up, so an id can be guessed from its neighbour: ids are unique, but
 * they are not secrets.
 */
export function createIdSource(clock: Clock = systemClock): IdSource {
  let [madeAt, head, tail, count] = [Number.NaN, '', '', countsPerTail];
  return () => {
    const now = clock.now();
    if (now !== madeAt) {
      madeAt = now;
      head = timeHead(now);
      count = countsPerTail;
    }
    if (count === countsPerTail) {
      if (digits.length === 0) digits = Array.from({ length: countsPerTail }, (_, value) => value.toString(16).padStart(3, '0'));
      tail = drawTail();
      count = 0;
    }
    const id = `${head}${digits[count] ?? ''}${tail}`;
    count += 1;
    return id;
  };
}

/** Ids on the machine's clock and randomness. */
export const systemIds: IdSource = createIdSource();

/** Ids that count up ("id-1", "id-2", …), for tests and other runs that must repeat exactly. */
export function createCountingIds(prefix = 'id'): IdSource {
  let count = 0;
  return () => `${prefix}-${String((count += 1))}`;
}
