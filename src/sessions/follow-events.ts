import type { RunState } from '../step-by-step/index.ts';
import { approvalDigest, findAskedCalls } from './approval-digest.ts';
import type { LogEntry } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';
import { readEvents } from './stored-events.ts';

/** Where events are read from. */
interface EventSource {
  readonly sessionId: string;
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  /** Rejects where there is no such session. */
  readonly open: () => Promise<void>;
  readonly read: (afterSeq: number) => Promise<readonly LogEntry[]>;
  readonly stateOf: () => Promise<RunState>;
  /** Calls back when more may be there; returns its unsubscribe. */
  readonly onMore: (call: () => void) => () => void;
  readonly isOver: () => boolean;
}

/** Wakes a reader; a call that comes while nobody sleeps is not lost. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.#rung = true;
    this.#wake?.();
  };

  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#rung = false;
  }
}

/** Whoever hears that something has to be approved can approve exactly that. */
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

/** The stored events after a number, in order; then, where they are followed, what is stored later. */
export function followEvents(fromSeq: number, source: EventSource): AsyncIterable<StoredEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const signal = source.signal === undefined ? leaving.signal : AbortSignal.any([source.signal, leaving.signal]);
      const events = readEventsAfter(fromSeq, { ...source, signal });
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

async function* readEventsAfter(fromSeq: number, source: EventSource): AsyncGenerator<StoredEvent, void, undefined> {
  await source.open();
  const bell = new Bell();
  const leave = source.onMore(bell.ring);
  source.signal?.addEventListener('abort', bell.ring);
  const isOver = (): boolean => source.follow !== true || source.isOver() || source.signal?.aborted === true;
  try {
    let seq = fromSeq;
    for (;;) {
      const entries = await source.read(seq);
      for (const { events = '[{}]', lastSeq = seq } of entries) {
        const told = await withDigests(source.sessionId, await readEvents(events, source.stateOf));
        for (const event of told) if (event.seq > seq) yield event;
        seq = lastSeq;
      }
      if (entries.length > 0) continue;
      if (isOver()) return;
      await bell.wait();
    }
  } finally {
    leave();
    source.signal?.removeEventListener('abort', bell.ring);
  }
}
