// A connection over a channel of another server, with the stream of the session's own server beside it.
// Owns:     which of the two a page listens to.
// Does not: keep what was received, or know what a channel is made of.
// C1. A page begins with the stream, and leaves it once the channel delivers and nothing is missing.
// C2. The stream is back after the channel was out of reach for ten seconds, and while the channel loses what is stored.
// C3. What a channel cannot deliver is read from the stream: text from before the page came, and text that was dropped.
// C4. A silent channel is checked over HTTP: nothing that is stored stays unseen for longer than that.
import type { Envelope, EnvelopeChannel } from '../../broadcasting/index.ts';
import type { LiveConnectionOptions } from './live-connection.ts';
import { LiveConnection } from './live-connection.ts';

/** Way on which envelopes come to a page. */
export type ConnectionSource = 'stream' | 'channel';

export interface ChannelConnectionOptions extends LiveConnectionOptions {
  readonly channel: EnvelopeChannel;
  readonly sessionId: string;
  /** True if no text of the open step is missing. */
  readonly hasText: () => boolean;
  readonly onSource: (source: ConnectionSource) => void;
}

/** Time without the channel after which the stream takes over. */
const patienceMs = 10_000;
/** Time in which both deliver: what one of them has sent late, the other has sent as well. */
const overlapMs = 2_000;
/** Three heartbeats of a server. */
const longestSilenceMs = 45_000;

export class ChannelConnection {
  readonly #options: ChannelConnectionOptions;
  readonly #leaving = new AbortController();
  readonly #unsubscribe: () => void;
  #stream: LiveConnection | undefined;
  #isUp = false;
  /** True if the channel has lost something: only an envelope shows that it works again. */
  #isDoubted = false;
  #isLive = false;
  #cancelTimer: () => void = () => undefined;

  constructor(options: ChannelConnectionOptions) {
    this.#options = options;
    this.#openStream();
    this.#unsubscribe = options.channel.subscribe(options.sessionId, {
      onUp: () => this.#noteUp(),
      onDown: () => this.#noteDown(),
      onEnvelope: (envelope) => this.#receive(envelope),
    });
  }

  /** The page woke up, or the network is back. */
  wake(): void {
    if (this.#stream !== undefined) this.#stream.wake();
    else if (this.#isUp) void this.#check();
    else this.#openStream();
  }

  /** Text of the open step is missing. */
  fillText(): void {
    if (this.#stream !== undefined || this.#leaving.signal.aborted) return;
    this.#openStream();
    this.#leaveSoon();
  }

  close(): void {
    this.#leaving.abort();
    this.#cancelTimer();
    this.#unsubscribe();
    this.#stream?.close();
  }

  #noteUp(): void {
    this.#isUp = true;
    // What was sent before is in the stream.
    this.#openStream();
    this.#leaveSoon();
  }

  #noteDown(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    if (this.#stream === undefined) this.#schedule(patienceMs, () => this.#openStream());
    else this.#cancelTimer();
  }

  #receive(envelope: Envelope): void {
    if (this.#leaving.signal.aborted) return;
    this.#options.onEnvelopes([envelope]);
    if (this.#stream === undefined && this.#isUp) this.#listen();
    if (!this.#isDoubted) return;
    this.#isDoubted = false;
    if (this.#isUp) this.#leaveSoon();
  }

  #openStream(): void {
    if (this.#stream !== undefined || this.#leaving.signal.aborted) return;
    this.#cancelTimer();
    const { onStatus, onSource } = this.#options;
    onSource('stream');
    this.#stream = new LiveConnection({
      ...this.#options,
      onStatus: (status, error) => {
        // The channel delivers meanwhile.
        if (status === 'connecting' && this.#isUp && this.#isLive) return;
        this.#isLive = status === 'live';
        onStatus(status, error);
      },
    });
  }

  #leaveSoon(): void {
    this.#schedule(overlapMs, () => void this.#leaveStream());
  }

  /** Leaves the stream, if the channel delivers and the server has nothing that is missing here. */
  async #leaveStream(): Promise<void> {
    if (!this.#isUp || this.#isDoubted) return;
    const news = this.#options.hasText() ? await this.#readNews() : undefined;
    if (!this.#canLeave()) return;
    if (news === undefined) {
      this.#leaveSoon();
      return;
    }
    this.#stream?.close();
    this.#stream = undefined;
    this.#isLive = true;
    this.#options.onSource('channel');
    this.#options.onStatus('live');
    this.#listen();
  }

  #canLeave(): boolean {
    return this.#isUp && !this.#isDoubted && !this.#leaving.signal.aborted;
  }

  /** Waits for the next sign of life. */
  #listen(): void {
    this.#schedule(longestSilenceMs, () => void this.#check());
  }

  /** Asks the server whether the channel has lost something. */
  async #check(): Promise<void> {
    this.#cancelTimer();
    const news = await this.#readNews();
    if (this.#leaving.signal.aborted || this.#stream !== undefined) return;
    if (news === 0 && this.#isUp) {
      this.#listen();
      return;
    }
    this.#isDoubted = news !== undefined && news > 0;
    this.#openStream();
    if (!this.#isDoubted) this.#leaveSoon();
  }

  /** Adds what is stored and not here yet. Returns the number of its envelopes; undefined if the server could not be asked. */
  async #readNews(): Promise<number | undefined> {
    const { api, getAfter, onEnvelopes } = this.#options;
    try {
      const { envelopes } = await api.readNewest(getAfter(), this.#leaving.signal);
      if (envelopes.length > 0 && !this.#leaving.signal.aborted) onEnvelopes(envelopes);
      return envelopes.length;
    } catch {
      return undefined;
    }
  }

  #schedule(afterMs: number, call: () => void): void {
    this.#cancelTimer();
    if (!this.#leaving.signal.aborted) this.#cancelTimer = this.#options.clock.schedule(afterMs, call);
  }
}
