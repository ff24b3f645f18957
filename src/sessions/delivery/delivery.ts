// Delivering events to other programs: what applications see of it.
import type { FeedFilter, FeedItem } from '../core/feed.ts';
import type { StoredEvent } from '../core/stored-events.ts';

/** Events of one commit of a session, on their way to a receiver. */
export interface EventDelivery extends Pick<FeedItem, 'sessionId' | 'tenant' | 'owner' | 'agent'> {
  /** The same each time that these events are delivered: a receiver that knows it has them already. */
  readonly id: string;
  /** Name that they are delivered under. */
  readonly name: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** At least one, in their order. */
  readonly events: readonly StoredEvent[];
}

/**
 * Sends events to a receiver. If it rejects, the same events are sent again later; an error with a number `retryAfterMs` says when. The
 * signal aborts if it takes too long.
 */
export type SendEvents = (delivery: EventDelivery, options: { readonly signal: AbortSignal }) => unknown;

/** Options of deliver(). */
export interface DeliverOptions extends FeedFilter {
  /** Place where the first process that uses the name begins: the start of what is stored, or what is stored from now on. @default 'start' */
  readonly startAt?: 'start' | 'now';
  /** Replaces obvious secrets in events. @default true */
  readonly redact?: boolean;
  /** Attempts at the same events before they become a dead letter. @default 100 */
  readonly maxAttempts?: number;
  /** Pause after the first failure; it doubles with each further one. @default 1000 */
  readonly firstDelayMs?: number;
  /** Longest pause between two attempts. @default 300000 */
  readonly maxDelayMs?: number;
  /** Time that one attempt may take. @default 30000 */
  readonly timeoutMs?: number;
  /** Number of sessions whose events are sent at once. @default 8 */
  readonly concurrency?: number;
}

/** Events that are being delivered under a name. */
export interface Delivery {
  readonly name: string;
  /** Ends it in this process: what is being sent is awaited, and another process may continue. */
  stop(): Promise<void>;
}

/** Events that could not be delivered. Their content stays in the log of their session; the letter is gone when that is deleted. */
export interface DeadLetter extends Pick<EventDelivery, 'id' | 'name' | 'sessionId' | 'tenant' | 'owner'> {
  /** Number of the last event before them. */
  readonly afterSeq: number;
  /** Number of the last of them. */
  readonly lastSeq: number;
  readonly attempts: number;
  /** The last error, without secrets. */
  readonly error: string;
  readonly at: number;
}

/** Filter for dead letters. */
export interface DeadLetterQuery {
  /** Id of the last one of the page before. */
  readonly after?: string;
  /** Maximum number. @default 100 */
  readonly limit?: number;
}
