// Readers of what grows: they read what there is, and again whenever there may be more.
// N1. News that come while nobody waits are not missed.
// N2. A reader that leaves while it waits is not kept waiting.
import { untilAborted } from '../../lib/index.ts';

export class News {
  /** Ends the reader. */
  readonly signal: AbortSignal;
  #hasMore = false;
  #wake = (): void => undefined;

  constructor(...ends: readonly (AbortSignal | undefined)[]) {
    this.signal = AbortSignal.any(ends.filter((end) => end !== undefined));
  }

  /** There may be more. */
  readonly note = (): void => {
    this.#hasMore = true;
    this.#wake();
  };

  /** Settles when there may be more than there was the last time, or the reader is to end. */
  async wait(): Promise<void> {
    if (!this.#hasMore) await untilAborted(new Promise<void>((resolve) => (this.#wake = resolve)), this.signal);
    this.#hasMore = false;
  }
}

/** Iterates over what a reader finds until it, or one of the signals, ends that. */
export function followNews<Item>(
  read: (news: News) => AsyncGenerator<Item, void, undefined>,
  ...ends: readonly (AbortSignal | undefined)[]
): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const items = read(new News(leaving.signal, ...ends));
      return {
        next: () => items.next(),
        return: () => {
          leaving.abort();
          return items.return();
        },
      };
    },
  };
}
