// A connection that is opened again whenever it ends.
// Owns:     when to connect, and when to give a silent connection up.
// Does not: keep what was received.
// K1. It connects again by itself: at once after a connection that worked, then later and later; at once when the page wakes up.
// K2. A connection from which nothing has come for longer than the server's heartbeat is given up.
import type { Envelope } from '../../broadcasting/index.ts';
import type { Clock, Random } from '../../lib/index.ts';
import { readEventStream } from './read-event-stream.ts';
import type { SessionApi } from './session-api.ts';
import { isTemporary } from './session-api.ts';

/** State of a connection. `waiting`: it will be tried again. `refused`: only waking up or another view tries again. */
export type ConnectionStatus = 'connecting' | 'live' | 'waiting' | 'refused' | 'shared' | 'closed';

export interface LiveConnectionOptions {
  readonly api: SessionApi;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of the last event that the view has. */
  readonly getAfter: () => number;
  readonly onEnvelopes: (envelopes: readonly Envelope[]) => void;
  readonly onStatus: (status: ConnectionStatus, error?: unknown) => void;
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** Three heartbeats of a server. */
const longestSilenceMs = 45_000;
/** A page that wakes up after this long does not trust its connection. */
const trustedSilenceMs = 20_000;

export class LiveConnection {
  readonly #options: LiveConnectionOptions;
  #attempt = new AbortController();
  #failures = 0;
  #heardAt = 0;
  #isClosed = false;
  #cancelTimer: () => void = () => undefined;
  #isOpen = false;

  constructor(options: LiveConnectionOptions) {
    this.#options = options;
    void this.#connect();
  }

  /** The page woke up, or the network is back. */
  wake(): void {
    const silence = this.#options.clock.now() - this.#heardAt;
    if (this.#isClosed || (this.#isOpen && silence < trustedSilenceMs)) return;
    this.#failures = 0;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#attempt.abort();
  }

  async #connect(): Promise<void> {
    this.#cancelTimer();
    this.#attempt.abort();
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#isOpen = true;
    const { api, getAfter, onStatus } = this.#options;
    onStatus('connecting');
    this.#listen();
    try {
      const body = await api.follow(getAfter(), attempt.signal);
      for await (const envelopes of readEventStream(body)) {
        if (attempt.signal.aborted) return;
        this.#receive(envelopes);
      }
      this.#retry(attempt);
    } catch (error) {
      this.#retry(attempt, error);
    }
  }

  #receive(envelopes: readonly Envelope[]): void {
    if (this.#failures !== -1) this.#options.onStatus('live');
    this.#failures = -1;
    this.#listen();
    if (envelopes.length > 0) this.#options.onEnvelopes(envelopes);
  }

  /** Waits for the next sign of life. */
  #listen(): void {
    const { clock } = this.#options;
    this.#heardAt = clock.now();
    this.#cancelTimer();
    const attempt = this.#attempt;
    this.#cancelTimer = clock.schedule(longestSilenceMs, () => this.#giveUp(attempt));
  }

  #giveUp(attempt: AbortController): void {
    this.#retry(attempt);
    attempt.abort();
  }

  #retry(attempt: AbortController, error?: unknown): void {
    if (this.#isClosed || attempt !== this.#attempt || attempt.signal.aborted) return;
    const { clock, random, onStatus } = this.#options;
    this.#cancelTimer();
    this.#isOpen = false;
    if (error !== undefined && !isTemporary(error)) {
      onStatus('refused', error);
      return;
    }
    onStatus('waiting', error);
    this.#failures += 1;
    const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures);
    const delayMs = this.#failures === 0 ? 0 : longest * (0.5 + random() / 2);
    this.#cancelTimer = clock.schedule(delayMs, () => void this.#connect());
  }
}
