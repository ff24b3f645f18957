// One connection for all tabs of an origin that show the same session: a browser allows six connections to a server.
// Owns:     which tab connects, and how the others get what it receives.
// Does not: connect, or keep what was received.
// J1. At most one tab connects. When it closes, or the server refuses it, another does.
// J2. A tab takes over from one that does not answer, or is silent for longer than a connection may be: it may be frozen.
// J3. A browser that refuses channels or locks, as some do in a frame or with blocked storage, costs the sharing only.
import type { Envelope } from '../../broadcasting/index.ts';
import type { Clock } from '../../lib/index.ts';
import { isRecord } from '../../lib/index.ts';
import type { PageChannel, PageEnvironment } from './environment.ts';

export interface SharedTabsOptions {
  readonly environment: PageEnvironment;
  /** Names what the tabs share: server and session. */
  readonly name: string;
  readonly clock: Clock;
  readonly onEnvelopes: (envelopes: readonly Envelope[]) => void;
  /** This tab is the one that connects; returns how to stop that. */
  readonly onLead: () => () => void;
  /** Another tab connects. */
  readonly onFollow: () => void;
  /** The tab that connects says whether it receives everything at once. */
  readonly onSign: (isLive: boolean) => void;
  /** Returns what is not stored yet: a tab that joins can fetch the rest. */
  readonly getOpen: () => readonly Envelope[];
}

type Message =
  | { readonly type: 'envelopes'; readonly envelopes: readonly Envelope[] }
  /** A sign of life of the tab that connects. */
  | { readonly type: 'sign'; readonly isLive: boolean }
  /** A question to the tab that connects. */
  | { readonly type: 'hello' };

const isMessage = (value: unknown): value is Message => {
  if (!isRecord(value)) return false;
  if (value['type'] === 'envelopes') return Array.isArray(value['envelopes']);
  return value['type'] === 'hello' || (value['type'] === 'sign' && typeof value['isLive'] === 'boolean');
};

const longestSilenceMs = 60_000;
/** Time in which the tab that connects answers. */
const answerMs = 5_000;
/** Interval at which a tab that connects gives a sign of life. */
const beatMs = 15_000;

/** Opens the channel; undefined if the browser refuses. */
function openChannel({ locks, createChannel }: PageEnvironment, name: string): PageChannel | undefined {
  try {
    return locks === undefined ? undefined : createChannel?.(name);
  } catch {
    return undefined;
  }
}

type LockOptions = { readonly steal?: boolean; readonly ifAvailable?: boolean };

/** Shares a connection between tabs, if the browser can; else this tab connects by itself. */
export class SharedTabs {
  readonly #options: SharedTabsOptions;
  #channel: PageChannel | undefined;
  #leaving = new AbortController();
  #stopLeading: (() => void) | undefined;
  #cancelTimer: () => void = () => undefined;
  #isLive = false;
  #isClosed = false;

  constructor(options: SharedTabsOptions) {
    this.#options = options;
    this.#channel = openChannel(options.environment, options.name);
  }

  /** Connects, or follows the tab that does. */
  start(): void {
    if (this.#channel === undefined) {
      this.#stopLeading = this.#options.onLead();
      return;
    }
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

  /** Tells the other tabs whether this one receives everything at once. */
  sign(isLive: boolean): void {
    this.#isLive = isLive;
    this.#post({ type: 'sign', isLive });
  }

  /** Asks the tab that connects for everything that is not stored yet. If it does not answer, this tab takes over. */
  hello(): void {
    if (this.isLeading || this.#channel === undefined) return;
    this.#post({ type: 'hello' });
    this.#watch(answerMs);
  }

  /** Lets another tab connect, if there is one: the server has refused this one. */
  stepDown(): void {
    if (!this.isLeading || this.#channel === undefined) return;
    this.#stopLeading?.();
    this.#stopLeading = undefined;
    this.#cancelTimer();
    this.#leaving.abort();
  }

  /** Connects again, or follows another tab, after it has stepped down. */
  stepUp(): void {
    if (this.#leaving.signal.aborted && !this.#isClosed) this.#queue({ ifAvailable: true });
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
      if (!this.isLeading) return;
      this.sign(this.#isLive);
      this.pass(this.#options.getOpen());
      return;
    }
    // One that has stepped down does not follow.
    if (this.isLeading || this.#leaving.signal.aborted) return;
    this.#watch(longestSilenceMs);
    if (message.type === 'sign') this.#options.onSign(message.isLive);
    else if (message.envelopes.length > 0) this.#options.onEnvelopes(message.envelopes);
  }

  /** Another tab connects: waits until it is gone. */
  #follow(): void {
    if (this.#isClosed) return;
    this.#options.onFollow();
    this.#queue({});
    this.hello();
  }

  /** Asks for the lock that the tab which connects holds. */
  #queue(how: LockOptions): void {
    const { environment, name } = this.#options;
    this.#leaving.abort();
    const leaving = new AbortController();
    this.#leaving = leaving;
    let isAnswered = false;
    const hold = (lock: unknown): Promise<void> =>
      new Promise((resolve) => {
        isAnswered = true;
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
    const request = async (): Promise<void> => {
      await environment.locks?.request(name, isWaiting ? { signal: leaving.signal } : how, hold);
    };
    request().catch(() => {
      if (leaving.signal.aborted || this.#isClosed) return;
      if (!isAnswered) {
        this.#leadAlone();
        return;
      }
      // Another tab has taken over.
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

  /** Connects without the others: the browser refuses locks. */
  #leadAlone(): void {
    this.#cancelTimer();
    if (this.#channel !== undefined) this.#channel.onmessage = null;
    this.#channel?.close();
    this.#channel = undefined;
    this.#stopLeading ??= this.#options.onLead();
  }

  #beat(): void {
    this.sign(this.#isLive);
    this.#cancelTimer = this.#options.clock.schedule(beatMs, () => this.#beat());
  }

  #watch(silenceMs: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.schedule(silenceMs, () => this.#queue({ steal: true }));
  }
}
