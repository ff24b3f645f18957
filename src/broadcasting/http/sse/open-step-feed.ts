// The open step, for a reader that may be slow.
// Owns:     what was read of the open step and not sent yet.
// Does not: know envelopes, or the stored events.
// F1. It reads as fast as the step is written, so that a reader never slows anything down, and keeps no more than the limit.
// F2. If more comes, everything is dropped, and the reader gets `lost`; then the whole open step again, as it is by then.
import type { OpenStepItem, SessionRuntime } from '../../../sessions/index.ts';

/** An item of the open step, or that items were dropped. */
export type FeedItem = OpenStepItem | { readonly type: 'lost' };

export interface OpenStepFeedOptions {
  readonly runtime: Pick<SessionRuntime, 'openStep'>;
  readonly sessionId: string;
  readonly maxBytes: number;
  /** Ends the feed. */
  readonly signal: AbortSignal;
  /** Called when there is something to take. */
  readonly onMore: () => void;
}

type TextItem = Extract<OpenStepItem, { readonly type: 'text' }>;

/** Rough size of an item in memory. */
const measure = (item: FeedItem): number => {
  if (item.type === 'text') return 2 * item.text.length + 200;
  return item.type === 'event' ? 2 * JSON.stringify(item.event).length + 200 : 200;
};

const isContinued = (last: FeedItem | undefined, next: FeedItem): last is TextItem =>
  last?.type === 'text' &&
  next.type === 'text' &&
  last.kind === next.kind &&
  last.participant === next.participant &&
  last.afterEntry === next.afterEntry &&
  last.attempt === next.attempt &&
  last.answer === next.answer &&
  last.offset + last.text.length === next.offset;

export class OpenStepFeed {
  readonly #options: OpenStepFeedOptions;
  #items: FeedItem[] = [];
  #bytes = 0;
  #reading: AbortController | undefined;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: OpenStepFeedOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#reading?.abort(), { once: true });
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if there will be nothing more: the runtime is drained, or the session is gone. */
  get isOver(): boolean {
    return this.#isOver && this.#items.length === 0;
  }

  /** Returns the next item; undefined if there is none yet. Throws if reading failed. */
  take(): FeedItem | undefined {
    if (this.#reading === undefined && !this.#isOver) this.#start();
    const item = this.#items.shift();
    if (item !== undefined) this.#bytes = this.#items.length === 0 ? 0 : this.#bytes - measure(item);
    else if (this.#failure !== undefined) throw this.#failure.error;
    return item;
  }

  #start(): void {
    if (this.#options.signal.aborted) {
      this.#isOver = true;
      return;
    }
    this.#reading = new AbortController();
    void this.#read(this.#reading.signal);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { runtime, sessionId, onMore } = this.#options;
    try {
      for await (const item of runtime.openStep(sessionId, { follow: true, signal })) {
        if (signal.aborted) return;
        this.#add(item);
        onMore();
      }
    } catch (error) {
      if (!signal.aborted) this.#failure = { error };
    }
    if (signal.aborted && !this.#options.signal.aborted) return;
    this.#isOver = true;
    onMore();
  }

  #add(item: OpenStepItem): void {
    const last = this.#items.at(-1);
    this.#bytes += measure(item);
    if (isContinued(last, item) && item.type === 'text') this.#items[this.#items.length - 1] = { ...last, text: last.text + item.text };
    else this.#items.push(item);
    // What is so far may be more than the limit: it is sent, but nothing is kept behind it.
    if (this.#bytes <= this.#options.maxBytes || (this.#items.length === 1 && last === undefined)) return;
    this.#reading?.abort();
    this.#reading = undefined;
    this.#items = [{ type: 'lost' }];
    this.#bytes = 0;
  }
}
