// What waits to be published.
// Owns:     the order of events, how many bytes are kept, and what is dropped.
// Does not: send anything, or know the protocol.
// Q1. Events of a channel leave in the order in which they came, and those of one channel are in one request at a time.
// Q2. It keeps no more bytes than the limit. Pieces are dropped first (text, progress, whatever is provisional), then heads, then stored
//     envelopes; of each kind the oldest first.
// Q3. A channel that lost a head or a stored envelope is remembered with the highest number, so that its readers can be told.
import type { PusherEvent } from './fit-envelope.ts';

/** An event of a channel. */
export interface QueuedEvent extends PusherEvent {
  readonly kind: 'piece' | 'head' | 'stored';
  readonly channel: string;
  readonly sessionId: string;
  /** Number of a stored envelope, or the one that a head names; 0 for a piece. */
  readonly seq: number;
}

/** The highest number of a session that was lost. */
export type LostNumber = Pick<QueuedEvent, 'channel' | 'sessionId' | 'seq'>;

/** Limits of one request. */
export interface BatchLimits {
  readonly maxBytes: number;
  readonly maxEvents: number;
}

/** Number of sessions whose losses are remembered. */
const mostLost = 10_000;
/** Bytes of an event beside its text. */
const eventBytes = 100;

const measure = ({ bytes }: QueuedEvent): number => bytes + eventBytes;

export class PublishQueue {
  readonly #maxBytes: number;
  /** Everything that waits, in order. */
  #events = new Set<QueuedEvent>();
  /** The same by kind, in the order in which kinds are dropped. */
  readonly #kinds = { piece: new Set<QueuedEvent>(), head: new Set<QueuedEvent>(), stored: new Set<QueuedEvent>() };
  readonly #busyChannels = new Set<string>();
  readonly #lost = new Map<string, LostNumber>();
  #bytes = 0;
  droppedPieces = 0;
  droppedEvents = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#events.size;
  }

  add(events: readonly QueuedEvent[]): void {
    for (const event of events) this.#insert(event);
    this.#makeRoom();
  }

  /** Takes the next events of channels that are not under way: as many as fit. */
  take({ maxBytes, maxEvents }: BatchLimits): readonly QueuedEvent[] {
    const taken: QueuedEvent[] = [];
    const skipped = new Set(this.#busyChannels);
    let room = maxBytes;
    for (const event of this.#events) {
      if (taken.length === maxEvents || room < 0) break;
      if (skipped.has(event.channel)) continue;
      if (event.bytes > room) {
        // The rest of its channel waits with it; events of other channels may fit.
        skipped.add(event.channel);
        continue;
      }
      taken.push(event);
      // And the comma between two.
      room -= event.bytes + 1;
    }
    for (const event of taken) {
      this.#remove(event);
      this.#busyChannels.add(event.channel);
    }
    return taken;
  }

  /** The events that were taken have arrived, or are given up. */
  release(events: readonly QueuedEvent[]): void {
    for (const { channel } of events) this.#busyChannels.delete(channel);
  }

  /** The events that were taken have not arrived: they come first again. */
  putBack(events: readonly QueuedEvent[]): void {
    this.release(events);
    const later = this.#removeAll();
    this.add([...events, ...later]);
  }

  /** Drops events that cannot be published, and counts them. */
  drop(events: readonly QueuedEvent[]): void {
    for (const event of events) this.#note(event);
  }

  /** Drops everything. */
  clear(): void {
    this.drop(this.#removeAll());
  }

  /** Returns the numbers that were lost since the last call. */
  takeLost(): readonly LostNumber[] {
    const lost = [...this.#lost.values()];
    this.#lost.clear();
    return lost;
  }

  #insert(event: QueuedEvent): void {
    this.#events.add(event);
    this.#kinds[event.kind].add(event);
    this.#bytes += measure(event);
  }

  #remove(event: QueuedEvent): void {
    this.#events.delete(event);
    this.#kinds[event.kind].delete(event);
    this.#bytes -= measure(event);
  }

  #removeAll(): readonly QueuedEvent[] {
    const events = [...this.#events];
    for (const event of events) this.#remove(event);
    return events;
  }

  #makeRoom(): void {
    const { piece, head, stored } = this.#kinds;
    while (this.#bytes > this.#maxBytes) {
      const [oldest] = piece.size > 0 ? piece : head.size > 0 ? head : stored;
      if (oldest === undefined) return;
      this.#remove(oldest);
      this.#note(oldest);
    }
  }

  #note({ kind, channel, sessionId, seq }: QueuedEvent): void {
    if (kind === 'piece') {
      this.droppedPieces += 1;
      return;
    }
    if (kind === 'stored') this.droppedEvents += 1;
    const before = this.#lost.get(channel)?.seq ?? 0;
    this.#lost.delete(channel);
    this.#lost.set(channel, { channel, sessionId, seq: Math.max(before, seq) });
    const [oldest] = this.#lost.keys();
    if (this.#lost.size > mostLost && oldest !== undefined) this.#lost.delete(oldest);
  }
}
