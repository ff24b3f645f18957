// The events of all sessions, as applications read them.
import type { AgentIdentity } from './agents.ts';
import type { StoredEvent } from './stored-events.ts';

/** Options for reading the events of all sessions. */
export interface FeedOptions {
  /** Cursor of the last item that you have: reading begins after it. `end` begins with what is stored from now on. @default the start */
  readonly after?: string;
  /** Only sessions of this tenant. */
  readonly tenant?: string;
  /** Only events of these types. @default all */
  readonly types?: readonly string[];
  /** Continues with events that are stored later, until the reader leaves. @default false */
  readonly follow?: boolean;
  /** Replaces obvious secrets (keys, tokens, passwords) in what is returned; what is stored stays as it is. @default false */
  readonly redact?: boolean;
  /** Ends a reader that follows. */
  readonly signal?: AbortSignal;
}

/** A stored event of any session. */
export interface FeedItem {
  /** Place of the event in the feed. Keep it, and pass it as `after` to continue. */
  readonly cursor: string;
  readonly sessionId: string;
  readonly tenant?: string;
  readonly owner?: string;
  readonly agent: AgentIdentity;
  readonly event: StoredEvent;
}
