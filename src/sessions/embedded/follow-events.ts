import type { ParsedEventsOptions } from '../core/parse-input.ts';
import { readEntryEvents } from '../core/read-entry-events.ts';
import type { StoredEvent } from '../core/stored-events.ts';
import type { SessionHost } from './session-host.ts';

/** Events of a session that are read. */
interface EventRange extends ParsedEventsOptions {
  readonly sessionId: string;
}

/** Reads the stored events after a number, in order; then, if they are followed, those that are stored later. */
export function followEvents(host: SessionHost, range: EventRange): AsyncIterable<StoredEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const ends = [host.closing, leaving.signal, ...(range.signal === undefined ? [] : [range.signal])];
      const events = readEventsAfter(host, range, ends);
      return {
        next: () => events.next(),
        // A reader that leaves while it waits is not kept waiting.
        return: () => {
          leaving.abort();
          return events.return();
        },
      };
    },
  };
}

async function* readEventsAfter(
  host: SessionHost,
  { sessionId, fromSeq, follow, redact }: EventRange,
  ends: readonly AbortSignal[],
): AsyncGenerator<StoredEvent, void, undefined> {
  await host.assertReadable(sessionId);
  const news = { hasMore: false, wake: (): void => undefined };
  const onMore = (): void => {
    news.hasMore = true;
    news.wake();
  };
  const unfollow = host.follow(sessionId, onMore);
  for (const signal of ends) signal.addEventListener('abort', onMore);
  try {
    for (let seq = fromSeq; ;) {
      const entries = await host.store.log.entries(sessionId, { afterSeq: seq, limit: 200 });
      for (const entry of entries) {
        const after = seq;
        yield* await readEntryEvents(sessionId, entry, { redact, isWanted: ({ seq: each }) => each > after });
        seq = entry.lastSeq ?? seq;
      }
      if (entries.length > 0) continue;
      if (!follow || ends.some(({ aborted }) => aborted)) return;
      // A session that was deleted meanwhile has nothing more to say.
      await host.assertReadable(sessionId);
      // A call that came while nobody waited counts too.
      if (!news.hasMore) await new Promise<void>((resolve) => (news.wake = resolve));
      news.hasMore = false;
    }
  } finally {
    unfollow();
    for (const signal of ends) signal.removeEventListener('abort', onMore);
  }
}
