// The heads of channels: the newest number that was sent, again and again, so that the loss of the last envelope is noticed.
// Owns:     when a head is sent.
// Does not: send it.
// H1. A channel that somebody listens to gets a head every 15 s. If the transport cannot say who listens: while its run lasts, when it
//     comes to rest, and once more after that.
// H2. No timer is left when no channel needs a head, and none keeps a process from ending.
import type { Clock } from '../lib/index.ts';

interface HeadTimerOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** True if somebody listens to the channel; undefined if nobody can say. */
  readonly isListening: (channel: string) => boolean | undefined;
  readonly sendHead: (channel: string) => void;
}

export class HeadTimer {
  readonly #options: HeadTimerOptions;
  /** Channels, and how many more heads they get if nobody can say who listens. */
  readonly #channels = new Map<string, number>();
  #cancel: (() => void) | undefined;

  constructor(options: HeadTimerOptions) {
    this.#options = options;
  }

  /** Something was sent. */
  note(channel: string, isAtRest: boolean): void {
    this.#channels.set(channel, isAtRest ? 1 : Infinity);
    if (isAtRest) this.#options.sendHead(channel);
    this.#arm();
  }

  forget(channel: string): void {
    this.#channels.delete(channel);
  }

  close(): void {
    this.#channels.clear();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    if (this.#cancel !== undefined || this.#channels.size === 0) return;
    const { clock, everyMs } = this.#options;
    this.#cancel = clock.schedule(everyMs, () => this.#tick(), true);
  }

  #tick(): void {
    this.#cancel = undefined;
    const { isListening, sendHead } = this.#options;
    for (const [channel, left] of this.#channels) {
      const isHeard = isListening(channel);
      if (isHeard === false || left === 0) this.#channels.delete(channel);
      else {
        if (isHeard === undefined) this.#channels.set(channel, left - 1);
        sendHead(channel);
      }
    }
    this.#arm();
  }
}
