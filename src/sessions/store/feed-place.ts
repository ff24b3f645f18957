// Places in the feed of a store.
// Owns:     the text of a cursor, and the check of a row of the feed.
// Does not: read anything.
// FeedPlace-1. A place in the feed is a number that grows with each commit.
import { InvalidArgumentError, quoteText } from '../../lib/index.ts';
import { parseLimit } from './check-write.ts';
import type { FeedQuery } from './session-store.ts';

/** A place after which reading begins, or at which, if it is inclusive. */
export type FeedPlace = { readonly type: 'feed'; readonly num: number } | { readonly type: 'end' };

const cursorText = /^f(?<num>\d{1,16})$/;

/** Reads the place that a cursor names. Throws an `InvalidArgumentError` if it is not one. */
function parseFeedCursor(cursor: string): FeedPlace {
  if (cursor === 'end') return { type: 'end' };
  const num = cursorText.exec(cursor)?.groups?.['num'];
  if (num === undefined)
    throw new InvalidArgumentError(`Unknown cursor ${quoteText(cursor)} of a feed. Pass the cursor of an item or a page, unchanged.`);
  return { type: 'feed', num: Number(num) };
}

export const toFeedCursor = (num: number): string => `f${num}`;

/** The part of the feed that a query asks for. */
export interface ParsedFeedQuery {
  readonly place: FeedPlace;
  readonly tenant?: string;
  readonly limit: number;
}

/** Reads which part of the feed is asked for: always the part after a place. Throws an `InvalidArgumentError` if the query makes no sense. */
export function parseFeedQuery({ after, isInclusive = false, tenant, limit = 200 }: FeedQuery): ParsedFeedQuery {
  const place: FeedPlace = after === undefined ? { type: 'feed', num: 0 } : parseFeedCursor(after);
  return { place: isInclusive ? stepBack(place) : place, limit: parseLimit(limit), ...(tenant !== undefined && { tenant }) };
}

function stepBack(place: FeedPlace): FeedPlace {
  return place.type === 'feed' ? { ...place, num: Math.max(0, place.num - 1) } : place;
}

// The database computes the sum of a row when an entry is added.
const [forSession, forEntry, modulus] = [104_729, 1_299_709, 2_147_483_647];

/** SQL for the sum of a row of the feed. */
export const feedSum = (session: string, n: string): string => `(${session} * ${forSession} + ${n} * ${forEntry}) % ${modulus}`;

/** True if a row of the feed reads as it was written. */
export const isFeedRowIntact = ({ session, n, sum }: Readonly<Record<string, unknown>>): boolean =>
  sum === (Number(session) * forSession + Number(n) * forEntry) % modulus;
