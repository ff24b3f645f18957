// One connection for all tabs of an origin that show the same session: a browser allows six connections to a server.
// Owns:     which tab connects, and how the others get what it receives.
// Does not: connect, or keep what was received.
// J1. At most one tab connects. When it closes, another does.
// J2. A tab that hears nothing for longer than a connection may be silent takes over: the other one may be frozen.
import type { Envelope } from '../../broadcasting/index.ts';
import type { Clock } from '../../lib/index.ts';
import { isRecord } from '../../lib/index.ts';
import type { PageChannel, PageEnvironment } from './environment.ts';

export interface SharedTabsOptions {
  readonly environment: PageEnvironment;
  /** Names what the tabs share: server, session and person. */
  readonly name: string;
  readonly clock: Clock;
  readonly onEnvelopes: (envelopes: readonly Envelope[]) => void;
  /** This tab is the one that connects; returns how to stop that. */
  readonly onLead: () => () => void;
  /** Another tab connects. */
  readonly onFollow: () => void;
  /** Returns what is not stored yet: a tab that joins can fetch the rest. */
  readonly getOpen: () => readonly Envelope[];
}

type Message = { readonly type: 'envelopes'; readonly envelopes: readonly Envelope[] } | { readonly type: 'hello' };

const isMessage = (value: unknown): value is Message =>
  isRecord(value) && (value['type'] === 'hello' || (value['type'] === 'envelopes' && Array.isArray(value['envelopes'])));

const longestSilenceMs = 60_000;
/** Interval at which a tab that connects gives a sign of life. */
const beatMs = 15_000;

/** Shares a connection between tabs, if the browser can; else this tab connects by itself. */
export class SharedTabs {
  readonly #options: SharedTabsOptions;
  readonly #channel: PageChannel | undefined;
  #leaving = new AbortController();
  #stopLeading: (() => void) | undefined;
  #cancelTimer: () => void = () => undefined;
  #isClosed = false;

  constructor(options: SharedTabsOptions) {
    this.#options = options;
    const { environment, name } = options;
    const { locks, createChannel } = environment;
    if (locks === undefined || createChannel === undefined) {
      this.#stopLeading = options.onLead();
      return;
    }
    this.#channel = createChannel(name);
    this.#channel.onmessage = ({ data }) => this.#receive(data);
    this.#queue({ ifAvailable: true });
  }

  get isLeading(): boolean {
    return this.#stopLeading !== undefined;
  }

  /** Passes on what this tab received from the server. */
  pass(envelopes: readonly Envelope[]): void {
    this.#post({ type: 'envelopes', envelopes });
  }

  /** Asks the tab that connects for everything that is not stored yet. */
  hello(): void {
    if (!this.isLeading) this.#post({ type: 'hello' });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#leaving.abort();
    this.#stopLeading?.();
    if (this.#channel !== undefined) this.#channel.onmessage = null;
    this.#channel?.close();
  }

  #post(message: Message): void {
    if (!this.#isClosed) this.#channel?.postMessage(message);
  }

  #receive(message: unknown): void {
    if (!isMessage(message)) return;
    if (message.type === 'hello') {
      if (this.isLeading) this.pass(this.#options.getOpen());
      return;
    }
    if (!this.isLeading) this.#watch();
    if (message.envelopes.length > 0) this.#options.onEnvelopes(message.envelopes);
  }

  /** Another tab connects: waits until it is gone. */
  #follow(): void {
    if (this.#isClosed) return;
    this.#options.onFollow();
    this.hello();
    this.#watch();
    this.#queue({});
  }

  /** Asks for the lock that the tab which connects holds. */
  #queue(how: { readonly steal?: boolean; readonly ifAvailable?: boolean }): void {
    const { environment, name } = this.#options;
    this.#leaving.abort();
    const leaving = new AbortController();
    this.#leaving = leaving;
    const hold = (lock: unknown): Promise<void> =>
      new Promise((resolve) => {
        if (lock === null || leaving.signal.aborted) {
          resolve();
          if (!leaving.signal.aborted) this.#follow();
          return;
        }
        leaving.signal.addEventListener('abort', () => resolve(), { once: true });
        this.#lead();
      });
    // Only a request that waits can be called off.
    const isWaiting = how.steal !== true && how.ifAvailable !== true;
    const request = environment.locks?.request(name, isWaiting ? { signal: leaving.signal } : how, hold);
    request?.catch(() => {
      // Another tab has taken over.
      if (leaving.signal.aborted || this.#isClosed) return;
      this.#stopLeading?.();
      this.#stopLeading = undefined;
      this.#follow();
    });
  }

  #lead(): void {
    this.#cancelTimer();
    this.#stopLeading = this.#options.onLead();
    this.#beat();
  }

  #beat(): void {
    this.pass([]);
    this.#cancelTimer = this.#options.clock.schedule(beatMs, () => this.#beat());
  }

  #watch(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.schedule(longestSilenceMs, () => this.#queue({ steal: true }));
  }
}
