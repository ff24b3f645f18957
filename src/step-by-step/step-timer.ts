// The three clocks, as one step sees them.
// T1. Wall: everything counts but people. Active: work counts. Waiting for a provider's permission counts on the wall only.
// T2. Waits that overlap count once; work beside a wait is still a wait's time.
import type { EffectOptions, EffectResult, Effects, SleepResult } from '../effects/index.ts';
import { createCancelledEffect } from '../effects/index.ts';
import type { Clock } from '../lib/index.ts';
import type { WaitingTime } from './outer-step.ts';
import type { StepTime } from './step-scope.ts';

/** Milliseconds without the noise behind the third decimal: sums of them are stored with every step. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Adds up the time during which at least one of several spans is open. */
class Stopwatch {
  readonly #clock: Clock;
  #total = 0;
  #open = 0;
  #openedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get totalMs(): number {
    // Never negative, whatever a host's clock does.
    return toMicroseconds(Math.max(0, this.#total + (this.#open > 0 ? this.#clock.monotonic() - this.#openedAt : 0)));
  }

  /** Opens a span; the returned function closes it. */
  start(): () => void {
    if (this.#open === 0) this.#openedAt = this.#clock.monotonic();
    this.#open += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open -= 1;
      if (this.#open === 0) this.#total += this.#clock.monotonic() - this.#openedAt;
    };
  }
}

/** The effects of one step. A class, because one is made for every step. */
class StepEffects implements Effects {
  readonly #effects: Effects;
  readonly #isOver: () => boolean;
  readonly #timer: StepTimer;

  constructor(effects: Effects, isOver: () => boolean, timer: StepTimer) {
    this.#effects = effects;
    this.#isOver = isOver;
    this.#timer = timer;
  }

  run<Value>(key: string, work: (signal: AbortSignal) => Value | Promise<Value>, options?: EffectOptions): Promise<EffectResult<Value>> {
    return this.#isOver() ? Promise.resolve(createCancelledEffect()) : this.#effects.run(key, work, options);
  }

  recall(key: string): EffectResult<unknown> | undefined {
    return this.#effects.recall?.(key);
  }

  async sleep(key: string, ms: number): Promise<SleepResult> {
    if (this.#isOver()) return createCancelledEffect();
    const leave = this.#timer.startWait();
    try {
      return await this.#effects.sleep(key, ms);
    } finally {
      leave();
    }
  }
}

/** A class, because one is made for every step. */
export class StepTimer implements StepTime {
  readonly clock: Clock;
  readonly startedAt: number;
  readonly #began: number;
  // Most steps wait for nobody.
  #waits: Stopwatch | undefined;
  #people: Stopwatch | undefined;
  readonly #outer: WaitingTime | undefined;

  constructor(clock: Clock, outer?: WaitingTime) {
    this.clock = clock;
    this.startedAt = clock.now();
    this.#began = clock.monotonic();
    this.#outer = outer;
  }

  get activeMs(): number {
    return toMicroseconds(Math.max(0, this.clock.monotonic() - this.#began - this.waitedMs - this.personMs));
  }

  get waitedMs(): number {
    return this.#waits?.totalMs ?? 0;
  }

  /** Time that people took, which counts nowhere. */
  get personMs(): number {
    return this.#people?.totalMs ?? 0;
  }

  beginWaiting(options: { readonly forPerson?: boolean } = {}): () => void {
    const leave = options.forPerson === true ? this.#startPerson() : this.startWait();
    const leaveOutside = this.#outer?.beginWaiting(options);
    return () => {
      leave();
      leaveOutside?.();
    };
  }

  /** Opens a span of waiting, in this step alone; the returned function closes it. */
  startWait(): () => void {
    this.#waits ??= new Stopwatch(this.clock);
    return this.#waits.start();
  }

  #startPerson(): () => void {
    this.#people ??= new Stopwatch(this.clock);
    return this.#people.start();
  }

  /** Returns the same effects, whose sleeps count as waiting; once the step is over, nothing starts any more. */
  watch(effects: Effects, isOver: () => boolean = () => false): Effects {
    return new StepEffects(effects, isOver, this);
  }
}
