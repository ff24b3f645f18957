import type { RunState } from '../step-by-step/index.ts';
import { approvalDigest, findAskedCalls } from './approval-digest.ts';
import type { EventsOptions } from './runtime-options.ts';
import type { SessionStore } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';
import { readEvents } from './stored-events.ts';

/** The host that events are read from. */
interface EventSource {
  readonly store: SessionStore;
  readonly closing: AbortSignal;
  /** Rejects if there is no such session. */
  readState(sessionId: string): Promise<RunState>;
  /** Calls back when more of a session is stored; returns its unsubscribe. */
  follow(sessionId: string, call: () => void): () => void;
}

/** Events of a session that are read. */
interface EventRange extends EventsOptions {
  readonly sessionId: string;
  readonly fromSeq: number;
}

/** Adds to each event that asks for an approval the digest that approves exactly that. */
async function withDigests(sessionId: string, events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> {
  const asked = findAskedCalls(sessionId, events);
  if (asked.size === 0) return events;
  return Promise.all(
    events.map(async (event) => {
      const call = asked.get(event);
      return call === undefined ? event : { ...event, digest: await approvalDigest(sessionId, call) };
    }),
  );
}

/** Reads the stored events after a number, in order; then, if they are followed, those that are stored later. */
export function followEvents(source: EventSource, range: EventRange): AsyncIterable<StoredEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const ends = [source.closing, leaving.signal, ...(range.signal === undefined ? [] : [range.signal])];
      const events = readEventsAfter(source, range, ends);
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
  source: EventSource,
  { sessionId, fromSeq, follow = false }: EventRange,
  ends: readonly AbortSignal[],
): AsyncGenerator<StoredEvent, void, undefined> {
  const getState = (): Promise<RunState> => source.readState(sessionId);
  await getState();
  let hasMore = false;
  let wake: (() => void) | undefined;
  const onMore = (): void => {
    hasMore = true;
    wake?.();
  };
  const unfollow = source.follow(sessionId, onMore);
  for (const signal of ends) signal.addEventListener('abort', onMore);
  try {
    for (let seq = fromSeq; ;) {
      const entries = await source.store.entries(sessionId, { afterSeq: seq, limit: 200 });
      for (const { events = '[{}]', lastSeq = seq } of entries) {
        for (const event of await withDigests(sessionId, await readEvents(events, getState))) if (event.seq > seq) yield event;
        seq = lastSeq;
      }
      if (entries.length > 0) continue;
      if (!follow || ends.some(({ aborted }) => aborted)) return;
      // A call that came while nobody waited counts too.
      if (!hasMore) await new Promise<void>((resolve) => (wake = resolve));
      hasMore = false;
    }
  } finally {
    unfollow();
    for (const signal of ends) signal.removeEventListener('abort', onMore);
  }
}
