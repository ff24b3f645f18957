// The end of a run that somebody asked for: a cancel, or a message that interrupts it.
// Owns:     when the run is interrupted.
// Does not: decide what is recorded of the calls that it cuts off.
// E1. A step that was left open is replayed first: a call whose end is known is recorded as it ended, in whatever order the calls stand.
// E2. Nothing new starts meanwhile.
// E3. Whoever waits for the end does not wait for ever: a replay that gets stuck is interrupted too.
import type { Journal } from '../../journal/index.ts';
import type { Clock } from '../../lib/index.ts';
import { systemClock } from '../../lib/index.ts';
import type { Supersession } from '../../step-by-step/index.ts';

/** Keys of effects that run a tool, in this run or in a run inside it. */
export const toolKey: RegExp = /(^|\/)tool\/\d+\/\d+$/;

/** Longest time that a replay has. */
const longestReplayMs = 10_000;

export class RunEnd {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #reason: string | Supersession | undefined;
  /** True until something starts that no earlier process has done. */
  #isReplaying: boolean;
  /** Something new waits for the end. */
  #isAwaited = false;

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
    this.#isReplaying = !journal.isEmpty;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get #isReplayed(): boolean {
    return !this.#journal.hasUnread(toolKey);
  }

  /** Interrupts the run at once: nothing of it is recorded. */
  drop(error: unknown): void {
    this.#abort.abort(error);
  }

  /** Asks for the end. */
  request(reason: string | Supersession): void {
    if (this.#reason !== undefined || this.signal.aborted) return;
    this.#reason = reason;
    if (!this.#isReplaying && this.#isReplayed) {
      this.#abort.abort(reason);
      return;
    }
    const cancelTimer = this.#clock.schedule(longestReplayMs, () => this.#abort.abort(reason), true);
    this.signal.addEventListener('abort', cancelTimer, { once: true });
  }

  /** Called before something new starts. Settles once it may, or cannot any more; returns undefined if it may at once. */
  beforeNew(): Promise<void> | undefined {
    if (this.#reason === undefined) {
      this.#isReplaying = false;
      return undefined;
    }
    if (this.signal.aborted) return undefined;
    this.#isAwaited = true;
    this.onKnown();
    return new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Called when a result is given again. */
  onKnown(): void {
    if (this.#reason === undefined || !this.#isReplayed || (this.#isReplaying && !this.#isAwaited)) return;
    // Whoever was given the last result receives it first.
    systemClock.schedule(0, () => this.#abort.abort(this.#reason));
  }

  /** Called when a step is recorded. */
  onCommit(): void {
    this.#isReplaying = false;
    if (this.#reason !== undefined) this.#abort.abort(this.#reason);
  }
}
