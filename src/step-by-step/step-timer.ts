// The three clocks, as one step sees them.
// T1. Wall: everything counts but people. Active: work counts. Waiting for a provider's permission counts on the wall only.
// T2. Waits that overlap count once; work beside a wait is still a wait's time.
import type { Effects } from '../effects/index.ts';
import { cancelledEffect } from '../effects/index.ts';
import type { Clock } from '../lib/index.ts';

/** Milliseconds without the noise behind the third decimal: sums of them are stored with every step. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000;

/** A class, because one is made for every step. */
export class StepTimer {
  readonly startedAt: number;
  readonly #clock: Clock;
  readonly #began: number;
  #waited = 0;
  #waiting = 0;
  #waitBegan = 0;
  #personMs = 0;
  #personBegan: number | undefined;
  #persons = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedAt = clock.now();
    this.#began = clock.monotonic();
  }

  activeMs(): number {
    return toMicroseconds(Math.max(0, this.#clock.monotonic() - this.#began - this.waitedMs() - this.personMs()));
  }

  waitedMs(): number {
    return toMicroseconds(this.#waited + (this.#waiting > 0 ? this.#clock.monotonic() - this.#waitBegan : 0));
  }

  /** Time that a person took, which counts nowhere. */
  personMs(): number {
    return toMicroseconds(this.#personMs + (this.#personBegan === undefined ? 0 : this.#clock.monotonic() - this.#personBegan));
  }

  /** From now until the returned call, a person takes the time. */
  beginPerson(): () => void {
    let isOpen = true;
    this.#persons += 1;
    this.#personBegan ??= this.#clock.monotonic();
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#persons -= 1;
      if (this.#persons > 0 || this.#personBegan === undefined) return;
      this.#personMs += this.#clock.monotonic() - this.#personBegan;
      this.#personBegan = undefined;
    };
  }

  /** The same effects, whose sleeps count as waiting; once the step is over, nothing begins any more. */
  watch(effects: Effects, isOver: () => boolean = () => false): Effects {
    return {
      run: (key, work, options) => (isOver() ? Promise.resolve(cancelledEffect()) : effects.run(key, work, options)),
      sleep: async (key, ms) => {
        if (isOver()) return cancelledEffect();
        this.#enterWait();
        try {
          return await effects.sleep(key, ms);
        } finally {
          this.#leaveWait();
        }
      },
    };
  }

  /** Counts as waiting from now until the returned call. */
  beginWaiting(): () => void {
    let isOpen = true;
    this.#enterWait();
    return () => {
      if (isOpen) this.#leaveWait();
      isOpen = false;
    };
  }

  #enterWait(): void {
    if (this.#waiting === 0) this.#waitBegan = this.#clock.monotonic();
    this.#waiting += 1;
  }

  #leaveWait(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#waited += this.#clock.monotonic() - this.#waitBegan;
  }
}
