// Commits of all sessions, with their events.
// Owns:     which commits of the feed a reader gets, and their events.
// Does not: wait for anything, or keep a place.
// U1. A session that cannot be read is reported and left out; it never keeps others from being read.
// U2. What a fork has copied from its source is left out: it was fed when the source stored it.
// U3. Nothing is kept from page to page but facts that never change, so that an erased message is not read from memory.
import { omitUndefined } from '../../lib/index.ts';
import { readBody, readEntriesFrom, toReadError } from '../core/entries.ts';
import { readEntryEvents } from '../core/read-entry-events.ts';
import { hasCode, SessionDamagedError } from '../core/errors.ts';
import type { FeedItem } from '../core/feed.ts';
import { toFacts } from '../core/session.ts';
import type { StoredEvent } from '../core/stored-events.ts';
import type { FeedEntry, FeedQuery, LogEntry, SessionHeader, SessionReader } from '../store/session-store.ts';

/** Services that reading the feed needs. */
export interface FeedServices {
  readonly store: SessionReader;
  readonly report: (error: unknown, where: string) => void;
}

/** Events to read. */
export interface EventFilter {
  readonly types?: readonly string[];
  readonly redact?: boolean;
}

/** The events of one commit of a session. */
export interface FedCommit extends Omit<FeedItem, 'cursor' | 'event'> {
  /** Place of the commit in the feed; absent if it was read from its session alone. */
  readonly cursor?: string;
  /** At least one. */
  readonly events: readonly StoredEvent[];
  /** Number of the last event that was stored with the commit. */
  readonly lastSeq: number;
}

/** Commits of one session. */
export interface SessionPage {
  /** Those with wanted events. */
  readonly commits: readonly FedCommit[];
  /** Number of the last event that was read, wanted or not; undefined if there are no more. */
  readonly lastSeq: number | undefined;
}

export interface FedPage {
  readonly commits: readonly FedCommit[];
  /** Reading continues after it. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

// Forks are few; with more, they are looked up again.
const mostForks = 1000;

export class FeedReader {
  readonly #services: FeedServices;
  /** The entry at which each fork begins. */
  readonly #forks = new Map<string, number>();

  constructor(services: FeedServices) {
    this.#services = services;
  }

  /** Reads a page of the feed. */
  async readPage(query: FeedQuery, filter: EventFilter): Promise<FedPage> {
    const { entries, cursor, hasMore } = await this.#services.store.feed.read(query);
    const commits: FedCommit[] = [];
    for (const fed of entries) {
      const commit = await this.#readFed(fed, filter);
      if (commit !== undefined) commits.push(commit);
    }
    return { commits, cursor, hasMore };
  }

  /** Reads commits of one session after an event, in their order. */
  async readSession(
    sessionId: string,
    { afterSeq, limit = 50 }: { readonly afterSeq: number; readonly limit?: number },
    filter: EventFilter,
  ): Promise<SessionPage> {
    const { store } = this.#services;
    const header = (await store.heads.read(sessionId))?.header;
    if (header === undefined) return { commits: [], lastSeq: undefined };
    const commits: FedCommit[] = [];
    const entries = await store.log.entries(sessionId, { afterSeq, limit });
    for (const entry of entries) {
      const commit = await this.#readCommit({ header, entry }, filter);
      if (commit !== undefined) commits.push(commit);
    }
    return { commits, lastSeq: entries.at(-1)?.lastSeq };
  }

  async #readFed(fed: FeedEntry, filter: EventFilter): Promise<FedCommit | undefined> {
    if ('damage' in fed) {
      this.#services.report(new SessionDamagedError(fed.sessionId ?? 'unknown', fed.damage), 'the feed');
      return undefined;
    }
    try {
      const commit = await this.#readCommit(fed, filter);
      return commit && { ...commit, cursor: fed.cursor };
    } catch (thrown) {
      const error = toReadError(fed.sessionId, thrown);
      if (hasCode(error, 'session-deleted', 'unknown-session')) return undefined;
      if (!hasCode(error, 'session-damaged')) throw error;
      this.#services.report(error, 'the feed');
      return undefined;
    }
  }

  async #readCommit(
    { header, entry }: { readonly header: SessionHeader; readonly entry: LogEntry },
    { types, redact = false }: EventFilter,
  ): Promise<FedCommit | undefined> {
    if (entry.events === undefined) return undefined;
    const { id: sessionId, tenant, owner, agent, forkedFrom } = toFacts(header);
    if (forkedFrom !== undefined && entry.n <= (await this.#findFork(header.id))) return undefined;
    const events = await readEntryEvents(header.id, entry, {
      redact,
      isWanted: ({ type }) => types === undefined || types.includes(type),
    });
    return events.length === 0 ? undefined : omitUndefined({ sessionId, tenant, owner, agent, events, lastSeq: entry.lastSeq ?? 0 });
  }

  /** Finds the entry that made a session a fork: everything before it was copied. */
  async #findFork(sessionId: string): Promise<number> {
    const known = this.#forks.get(sessionId);
    if (known !== undefined) return known;
    const entries = await readEntriesFrom(this.#services.store, sessionId, 1);
    const found = entries.findLast(({ body }) => readBody(body).action?.type === 'fork')?.n ?? 0;
    if (this.#forks.size >= mostForks) this.#forks.clear();
    this.#forks.set(sessionId, found);
    return found;
  }
}
