// Reads stored events page by page while a stream is held back.
// P1. One request at a time. It ends by itself if a request fails: whatever is wrong then is not the stream.
import type { Envelope } from '../../broadcasting/index.ts';
import type { Clock } from '../../lib/index.ts';
import type { SessionApi } from './session-api.ts';

export interface PagePollerOptions {
  readonly api: SessionApi;
  readonly clock: Clock;
  /** Number of the last event that the view has. */
  readonly getAfter: () => number;
  readonly onEnvelopes: (envelopes: readonly Envelope[]) => void;
  /** The first page has come. */
  readonly onStart: () => void;
  /** A request failed, and no more pages are read. */
  readonly onEnd: (error: unknown) => void;
}

const everyMs = 2_000;

export class PagePoller {
  readonly #options: PagePollerOptions;
  #polling: AbortController | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(options: PagePollerOptions) {
    this.#options = options;
  }

  /** True while pages are read. */
  get isActive(): boolean {
    return this.#polling !== undefined;
  }

  start(): void {
    if (this.#polling !== undefined) return;
    this.#polling = new AbortController();
    void this.#poll(this.#polling, true);
  }

  stop(): void {
    this.#cancelTimer();
    this.#polling?.abort();
    this.#polling = undefined;
  }

  async #poll(polling: AbortController, isFirst: boolean): Promise<void> {
    const { api, clock, getAfter, onEnvelopes, onStart, onEnd } = this.#options;
    try {
      const { envelopes } = await api.readNewest(getAfter(), polling.signal);
      if (polling.signal.aborted) return;
      if (isFirst) onStart();
      if (envelopes.length > 0) onEnvelopes(envelopes);
      this.#cancelTimer = clock.schedule(everyMs, () => void this.#poll(polling, false));
    } catch (error) {
      if (this.#polling !== polling) return;
      this.stop();
      onEnd(error);
    }
  }
}
