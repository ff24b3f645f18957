// The times at which a turn reports to the desk.
// G1. Changes that somebody may be waiting for are reported at once, steps a few times a second, and everything at the end.
// G2. A worker with many sessions reports each of them less often: together they report steps at most fifty times a second.
import type { Clock } from '../../lib/index.ts';
import type { TurnChange } from './protocol.ts';
import type { SessionImage } from './session-image.ts';

/** Maximum time until the desk knows which worker runs a session. */
const firstMs = 20;

/** Time between two reports of steps. */
const laterMs = 200;

/** Minimum time between two reports of steps, over all sessions of a worker. */
const eachMs = 20;

export class ReportTimer {
  readonly #clock: Clock;
  readonly #image: SessionImage;
  #dueAt: number | undefined;
  #reportedAt: number;
  readonly #countTurns: () => number;

  constructor(clock: Clock, image: SessionImage, countTurns: () => number) {
    this.#countTurns = countTurns;
    this.#clock = clock;
    this.#image = image;
    this.#reportedAt = clock.monotonic();
    this.#dueAt = this.#reportedAt + firstMs;
  }

  get dueInMs(): number | undefined {
    return this.#dueAt === undefined ? undefined : Math.max(0, this.#dueAt - this.#clock.monotonic());
  }
  get isDue(): boolean {
    return this.#dueAt !== undefined && this.#dueAt <= this.#clock.monotonic();
  }

  /** True if somebody may be waiting for these changes. Changes that end the turn are reported with its end. */
  isUrgent(changes: readonly TurnChange[]): boolean {
    return changes.some((change) => {
      if (change.type !== 'write') return true;
      const { header, takesMail = [] } = change;
      if (header === undefined) return takesMail.length > 0;
      return header.isOpen && (takesMail.length > 0 || header.status !== this.#image.header?.status);
    });
  }

  noteReport(): void {
    this.#dueAt = undefined;
    this.#reportedAt = this.#clock.monotonic();
  }

  noteRow(): void {
    if (this.#image.hasUnreported) this.#dueAt ??= this.#reportedAt + Math.max(laterMs, eachMs * this.#countTurns());
  }
}
