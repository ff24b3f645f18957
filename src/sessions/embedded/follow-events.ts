import type { ParsedEventsOptions } from '../core/parse-input.ts';
import { readEntryEvents } from '../core/read-entry-events.ts';
import type { StoredEvent } from '../core/stored-events.ts';
import { UnknownSessionError } from '../core/errors.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { News } from './news.ts';
import { followNews } from './news.ts';
import type { StoreWatcher } from './store-watcher.ts';

/** Sources of what readers follow. */
export interface FollowSources {
  readonly store: Pick<SessionStore, 'log' | 'heads'>;
  readonly watcher: Pick<StoreWatcher, 'follow'>;
  /** Ends all readers. */
  readonly closing: AbortSignal;
}

/** Events of a session that are read. */
interface EventRange extends ParsedEventsOptions {
  readonly sessionId: string;
}

/** Throws if there is no such session, or if it was deleted. */
export async function assertReadable(store: FollowSources['store'], sessionId: string): Promise<void> {
  if ((await store.heads.read(sessionId)) !== undefined) return;
  await store.log.load(sessionId);
  throw new UnknownSessionError(sessionId);
}

/** Reads the stored events after a number, in order; then, if they are followed, those that are stored later. */
export const followEvents = (sources: FollowSources, range: EventRange): AsyncIterable<StoredEvent> =>
  followNews((news) => readEventsAfter(sources, range, news), sources.closing, range.signal);

async function* readEventsAfter(
  { store, watcher }: FollowSources,
  { sessionId, fromSeq, follow, redact }: EventRange,
  news: News,
): AsyncGenerator<StoredEvent, void, undefined> {
  await assertReadable(store, sessionId);
  const unfollow = watcher.follow(sessionId, news.note);
  try {
    for (let seq = fromSeq; ;) {
      const entries = await store.log.entries(sessionId, { afterSeq: seq, limit: 200 });
      for (const entry of entries) {
        const after = seq;
        yield* await readEntryEvents(sessionId, entry, { redact, isWanted: ({ seq: each }) => each > after });
        seq = entry.lastSeq ?? seq;
      }
      if (entries.length > 0) continue;
      if (!follow || news.signal.aborted) return;
      // A session that was deleted meanwhile has nothing more to say.
      await assertReadable(store, sessionId);
      await news.wait();
    }
  } finally {
    unfollow();
  }
}
