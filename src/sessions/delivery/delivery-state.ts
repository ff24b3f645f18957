// The place of a delivery in the feed, and the sessions that are behind it.
// Owns:     what is stored under the name of a delivery, and how it changes.
// Does not: read events, send anything, know the time, or store what is known of a session in the place of all: that is a note of its own.
// D1. The cursor stands after every commit that was delivered or skipped. A skipped commit belongs to a session that is behind, up to
//     `skippedSeq`: nothing before the cursor is forgotten.
// D2. A session that is behind gets its own events in order; it is behind no longer once everything that was skipped is delivered.
import type { ProcessIdentity } from '../../lib/index.ts';
import { omitUndefined, readObject } from '../../lib/index.ts';

/** A session whose receiver failed. */
export interface BehindSession {
  readonly sessionId: string;
  /** Number of its last event that was delivered. */
  readonly afterSeq: number;
  /** Number of its last event that the cursor has passed. */
  readonly skippedSeq: number;
  /** Failed attempts at its next commit. */
  readonly attempts: number;
  readonly retryAt: number;
  readonly error: string;
}

/** A delivery in a process. */
export interface DeliveryHolder extends ProcessIdentity {
  /** Different for each. */
  readonly id: string;
}

export interface DeliveryState {
  readonly cursor?: string;
  /** The one that delivers; absent if none does. */
  readonly holder?: DeliveryHolder;
  readonly behind: readonly BehindSession[];
}

export const emptyState: DeliveryState = { behind: [] };

function readHolder(holder: ReturnType<typeof readObject>): DeliveryHolder {
  return omitUndefined({
    id: holder.string('id'),
    host: holder.optionalString('host'),
    bootId: holder.optionalString('bootId'),
    pidNamespace: holder.optionalString('pidNamespace'),
    pid: holder.optionalNumber('pid'),
    startedAt: holder.optionalString('startedAt'),
  });
}

/** Reads what is stored of a session that is behind. */
export function readBehind(item: unknown, path: string): BehindSession {
  const session = readObject(item, path);
  return {
    sessionId: session.string('sessionId'),
    afterSeq: session.number('afterSeq'),
    skippedSeq: session.number('skippedSeq'),
    attempts: session.number('attempts'),
    retryAt: session.number('retryAt'),
    error: session.string('error'),
  };
}

/** Reads what is stored under a name. The sessions that are behind have notes of their own. */
export function readState(text: string): DeliveryState {
  const data = readObject(JSON.parse(text), 'delivery');
  const [cursor, holder] = [data.optionalString('cursor'), data.optionalObject('holder')];
  return { behind: [], ...(cursor !== undefined && { cursor }), ...(holder !== undefined && { holder: readHolder(holder) }) };
}

/** Writes everything but the sessions that are behind. */
export const writeState = ({ behind: _, ...state }: DeliveryState): string => JSON.stringify(state);

export const findBehind = ({ behind }: Pick<DeliveryState, 'behind'>, sessionId: string): BehindSession | undefined =>
  behind.find((each) => each.sessionId === sessionId);

/** Notes where a session stands. One that has caught up is behind no longer. */
export function withBehind(state: DeliveryState, session: BehindSession): DeliveryState {
  const others = state.behind.filter(({ sessionId }) => sessionId !== session.sessionId);
  return { ...state, behind: session.afterSeq >= session.skippedSeq ? others : [...others, session] };
}

/** Forgets sessions that were deleted. */
export const withoutSessions = (state: DeliveryState, deleted: ReadonlySet<string>): DeliveryState =>
  deleted.size === 0 ? state : { ...state, behind: state.behind.filter(({ sessionId }) => !deleted.has(sessionId)) };

/** Notes that the cursor passes a commit of a session that is behind. */
export function withSkipped(state: DeliveryState, sessionId: string, lastSeq: number): DeliveryState {
  const session = findBehind(state, sessionId);
  return session === undefined ? state : withBehind(state, { ...session, skippedSeq: Math.max(session.skippedSeq, lastSeq) });
}

/** Returns the pause after a number of failures in a row. */
export function computeDelay(
  attempts: number,
  {
    firstDelayMs,
    maxDelayMs,
    retryAfterMs = 0,
  }: { readonly firstDelayMs: number; readonly maxDelayMs: number; readonly retryAfterMs?: number },
): number {
  return Math.min(maxDelayMs, Math.max(retryAfterMs, firstDelayMs * 2 ** Math.min(attempts - 1, 40)));
}
