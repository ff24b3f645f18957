// Places in the feed of a store.
// Owns:     the text of a cursor, and the check of a row of the feed.
// Does not: read anything.
// N1. A place in the past is a session and an entry of it: everything that was stored before the store had a feed, session by session.
// N2. A place in the feed is a number that grows with each commit. Everything in the feed comes after everything in the past.
import { InvalidArgumentError, quoteText } from '../../lib/index.ts';
import { parseLimit } from './check-write.ts';
import type { FeedQuery } from './session-store.ts';

/** A place after which reading begins, or at which, if it is inclusive. */
export type FeedPlace =
  | { readonly type: 'past'; readonly session: number; readonly n: number }
  | { readonly type: 'feed'; readonly num: number }
  | { readonly type: 'end' };

const cursorText = /^(?:p(?<session>\d{1,16})\.(?<n>\d{1,16})|f(?<num>\d{1,16}))$/;

/** Reads the place that a cursor names. Throws an `InvalidArgumentError` if it is not one. */
function parseFeedCursor(cursor: string): FeedPlace {
  if (cursor === 'end') return { type: 'end' };
  const found = cursorText.exec(cursor)?.groups;
  if (found === undefined)
    throw new InvalidArgumentError(`Unknown cursor ${quoteText(cursor)} of a feed. Pass the cursor of an item or a page, unchanged.`);
  const { session, n, num } = found;
  return num === undefined ? { type: 'past', session: Number(session), n: Number(n) } : { type: 'feed', num: Number(num) };
}

export const toPastCursor = (session: number, n: number): string => `p${session}.${n}`;
export const toFeedCursor = (num: number): string => `f${num}`;

/** The part of the feed that a query asks for. */
export interface ParsedFeedQuery {
  readonly place: FeedPlace;
  readonly tenant?: string;
  readonly limit: number;
}

/** Reads which part of the feed is asked for: always the part after a place. Throws an `InvalidArgumentError` if the query makes no sense. */
export function parseFeedQuery({ after, isInclusive = false, tenant, limit = 200 }: FeedQuery): ParsedFeedQuery {
  const place: FeedPlace = after === undefined ? { type: 'past', session: 0, n: 0 } : parseFeedCursor(after);
  return { place: isInclusive ? stepBack(place) : place, limit: parseLimit(limit), ...(tenant !== undefined && { tenant }) };
}

function stepBack(place: FeedPlace): FeedPlace {
  if (place.type === 'past') return { ...place, n: Math.max(0, place.n - 1) };
  return place.type === 'feed' ? { ...place, num: Math.max(0, place.num - 1) } : place;
}

// The database computes the sum of a row when an entry is added, whatever build adds it.
const [forSession, forEntry, modulus] = [104_729, 1_299_709, 2_147_483_647];

/** SQL for the sum of a row of the feed. */
export const feedSum = (session: string, n: string): string => `(${session} * ${forSession} + ${n} * ${forEntry}) % ${modulus}`;

/** True if a row of the feed reads as it was written. */
export const isFeedRowIntact = ({ session, n, sum }: Readonly<Record<string, unknown>>): boolean =>
  sum === (Number(session) * forSession + Number(n) * forEntry) % modulus;
