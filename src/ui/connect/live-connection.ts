// A connection that is opened again whenever it ends.
// Owns:     when to connect, when to give a silent connection up, and when to ask for pages meanwhile.
// Does not: keep what was received.
// K1. It connects again by itself: at once after a connection that worked, then later and later; at once when the page wakes up.
// K2. A connection from which nothing has come for longer than the server's heartbeat is given up.
// K3. While a stream is late, pages are read: behind a proxy that holds streams back, a view is a few seconds late, not dead.
// K4. A clock that is set does not make a dead connection trusted.
import type { Envelope } from '../../broadcasting/index.ts';
import type { Clock, Random } from '../../lib/index.ts';
import { PagePoller } from './poll-pages.ts';
import { readEventStream } from './read-event-stream.ts';
import type { SessionApi } from './session-api.ts';
import { isTemporary } from './session-api.ts';

/**
 * State of a connection. `polling`: the stream is held back, so pages are read. `waiting`: it will be tried again. `refused`: only waking
 * up or another view tries again.
 */
export type ConnectionStatus = 'connecting' | 'live' | 'polling' | 'waiting' | 'refused' | 'shared' | 'closed';

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
/** A request without an answer for this long may have gone into a connection that died while the page slept: another one is opened. */
const longestAnswerMs = 8_000;
/** A page that wakes up after this long does not trust its connection. */
const trustedSilenceMs = 20_000;
/** A server sends something at once, and then at each heartbeat. */
const lateMs = { first: 5_000, later: 20_000 };

export class LiveConnection {
  readonly #options: LiveConnectionOptions;
  readonly #poller: PagePoller;
  #attempt = new AbortController();
  #failures = 0;
  #heardAt = { wall: 0, monotonic: 0 };
  #isClosed = false;
  #isOpen = false;
  #cancelTimers: () => void = () => undefined;

  constructor(options: LiveConnectionOptions) {
    this.#options = options;
    const { api, clock, getAfter, onEnvelopes, onStatus } = options;
    this.#poller = new PagePoller({
      api,
      clock,
      getAfter,
      onEnvelopes,
      onStart: () => onStatus('polling'),
      onEnd: (error) => onStatus(this.#isOpen ? 'connecting' : 'waiting', error),
    });
    void this.#connect();
  }

  /** The page woke up, or the network is back. */
  wake(): void {
    if (this.#isClosed || (this.#isOpen && this.#isTrusted())) return;
    this.#failures = 0;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimers();
    this.#poller.stop();
    this.#attempt.abort();
  }

  /** Time that passed while the machine slept shows on one of the two clocks at least; a clock that went back shows nothing. */
  #isTrusted(): boolean {
    const { clock } = this.#options;
    const silence = [clock.now() - this.#heardAt.wall, clock.monotonic() - this.#heardAt.monotonic];
    return silence.every((ms) => ms >= 0 && ms < trustedSilenceMs);
  }

  async #connect(): Promise<void> {
    this.#cancelTimers();
    this.#attempt.abort();
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#isOpen = true;
    const { api, getAfter } = this.#options;
    this.#say('connecting');
    this.#listen(lateMs.first, longestAnswerMs);
    try {
      const body = await api.follow(getAfter(), attempt.signal);
      if (attempt === this.#attempt) this.#listen(lateMs.first);
      for await (const envelopes of readEventStream(body)) {
        if (attempt.signal.aborted) return;
        this.#receive(envelopes);
      }
      this.#retry(attempt);
    } catch (error) {
      this.#retry(attempt, error);
    }
  }

  /** Reports a status. While pages are read, it does not matter that the stream is tried again. */
  #say(status: ConnectionStatus, error?: unknown): void {
    if (!this.#poller.isActive || error !== undefined) this.#options.onStatus(status, error);
  }

  #receive(envelopes: readonly Envelope[]): void {
    if (this.#failures !== -1 || this.#poller.isActive) this.#options.onStatus('live');
    this.#poller.stop();
    this.#failures = -1;
    this.#listen(lateMs.later);
    if (envelopes.length > 0) this.#options.onEnvelopes(envelopes);
  }

  /** Waits for the next sign of life. */
  #listen(isLateMs: number, longestMs = longestSilenceMs): void {
    const { clock } = this.#options;
    this.#heardAt = { wall: clock.now(), monotonic: clock.monotonic() };
    this.#cancelTimers();
    const attempt = this.#attempt;
    const cancelLate = clock.schedule(isLateMs, () => this.#poller.start());
    const cancelEnd = clock.schedule(longestMs, () => this.#giveUp(attempt));
    this.#cancelTimers = () => {
      cancelLate();
      cancelEnd();
    };
  }

  #giveUp(attempt: AbortController): void {
    this.#retry(attempt);
    attempt.abort();
  }

  #retry(attempt: AbortController, error?: unknown): void {
    if (this.#isClosed || attempt !== this.#attempt || attempt.signal.aborted) return;
    const { clock, random } = this.#options;
    this.#cancelTimers();
    this.#isOpen = false;
    if (error !== undefined && !isTemporary(error)) {
      this.#poller.stop();
      this.#say('refused', error);
      return;
    }
    this.#say('waiting', error);
    this.#failures += 1;
    const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#failures);
    const delayMs = this.#failures === 0 ? 0 : longest * (0.5 + random() / 2);
    this.#cancelTimers = clock.schedule(delayMs, () => void this.#connect());
  }
}
