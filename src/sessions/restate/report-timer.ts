// When the desk is told what a turn has done.
// G1. What somebody may wait for is told at once; steps are told a few times a second; everything is told at the end.
import type { Clock } from '../../lib/index.ts';
import type { SessionHeader } from '../store/session-store.ts';
import type { SessionImage } from './session-image.ts';
import type { TurnRow } from './turn-rows.ts';

/** Time to wait for more of what is told at once. */
const soonMs = 20;

/** Time between two reports of steps. */
const laterMs = 200;

const toShown = (header: SessionHeader | undefined): string => JSON.stringify([header?.status, header?.isOpen, header?.wakeAt, header?.stopReason]);

export class ReportTimer {
  readonly #clock: Clock;
  readonly #image: SessionImage;
  #shown: string;
  #dueAt: number | undefined;
  #reportedAt: number;

  constructor(clock: Clock, image: SessionImage) {
    this.#clock = clock;
    this.#image = image;
    this.#shown = toShown(image.header);
    this.#reportedAt = clock.monotonic();
    // The desk has to know who has the session.
    this.#dueAt = this.#reportedAt + soonMs;
  }

  get dueInMs(): number | undefined {
    return this.#dueAt === undefined ? undefined : Math.max(0, this.#dueAt - this.#clock.monotonic());
  }
  get isDue(): boolean {
    return this.#dueAt !== undefined && this.#dueAt <= this.#clock.monotonic();
  }

  noteReport(): void {
    this.#dueAt = undefined;
    this.#reportedAt = this.#clock.monotonic();
  }

  noteRow({ changes, reportBy }: TurnRow): void {
    const shown = toShown(this.#image.header);
    const isUrgent =
      shown !== this.#shown || changes.some((change) => change.type !== 'write' || (change.takesMail ?? []).length > 0);
    this.#shown = shown;
    if (reportBy !== undefined || !this.#image.hasUnreported) return;
    const dueAt = isUrgent ? this.#clock.monotonic() + soonMs : this.#reportedAt + laterMs;
    this.#dueAt = Math.min(this.#dueAt ?? Infinity, dueAt);
  }
}
