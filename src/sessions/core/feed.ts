// The events of all sessions, as applications read them.
import type { SessionFacts } from './session.ts';
import type { StoredEvent } from './stored-events.ts';

/** Options of a reader that may follow. */
export interface FollowOptions {
  /** Continues with what comes later, until the reader leaves. False ends at what there is. @default false */
  readonly follow?: boolean;
  /** Replaces obvious secrets (keys, tokens, passwords) in events that are returned; what is stored stays as it is. @default false */
  readonly redact?: boolean;
  /** Ends a reader that follows. */
  readonly signal?: AbortSignal;
}

/** Events of all sessions that are read. */
export interface FeedFilter {
  /** Only sessions of this tenant. */
  readonly tenant?: string;
  /** Only events of these types. @default all */
  readonly types?: readonly string[];
}

/** Options for reading the events of all sessions. */
export interface FeedOptions extends FeedFilter, FollowOptions {
  /** Cursor of the last item that you have: reading begins after it. `end` begins with what is stored from now on. @default the start */
  readonly after?: string;
}

/** A stored event of any session. */
export interface FeedItem extends Pick<SessionFacts, 'tenant' | 'owner' | 'agent'> {
  /** Place of the event in the feed. Keep it, and pass it as `after` to continue. */
  readonly cursor: string;
  readonly sessionId: string;
  readonly event: StoredEvent;
}
