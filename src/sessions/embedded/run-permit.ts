// Which sessions run at once.
// U1. At most so many sessions run; the others wait in the order in which they came.
// U2. The last attempt at a step that may be ending the process has no other attempt beside it, nor does one start meanwhile: nobody is
//     blamed for what another did.
import type { SessionLog } from './session-log.ts';

/** A place that somebody has, or waits for. */
interface RunPlace {
  /** Settles when it is there; undefined if it is there at once. */
  readonly granted: Promise<void> | undefined;
  /** Does not wait any longer. */
  readonly grantNow: () => void;
  /** Gives it back. */
  readonly free: () => void;
}

/** Places of those who run at once. */
export class RunPlaces {
  readonly #size: number;
  /** Those who wait, each with the number of taken places below which it gets one. */
  readonly #waiting = new Map<() => void, number>();
  #taken = 0;
  /** The holder of a place that nobody may share. */
  #only: (() => void) | undefined;

  constructor(closing: AbortSignal, size: number = Infinity) {
    this.#size = size;
    // Whoever waits has to see that nothing more starts.
    closing.addEventListener('abort', () => {
      for (const grant of [...this.#waiting.keys()]) grant();
    });
  }

  /** Number of places that could be taken now. */
  get room(): number {
    return Math.max(0, this.#size - this.#taken - this.#waiting.size);
  }

  /** Takes a place once fewer than this are taken. With 1, the place is exclusive: nobody gets another until it is free. */
  take(most: number = this.#size): RunPlace {
    let isGranted = false;
    let isFree = false;
    let onGranted = (): void => undefined;
    const grantNow = (): void => {
      if (isGranted) return;
      isGranted = true;
      this.#waiting.delete(grantNow);
      this.#taken += 1;
      if (most === 1) this.#only ??= grantNow;
      onGranted();
    };
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      grantNow();
      this.#taken -= 1;
      if (this.#only === grantNow) this.#only = undefined;
      for (const [grant, below] of this.#waiting) if (this.#only === undefined && this.#taken < below) grant();
    };
    const isThere = this.#only === undefined && this.#taken < most;
    if (isThere) grantNow();
    else this.#waiting.set(grantNow, most);
    const granted = isThere ? undefined : new Promise<void>((resolve) => (onGranted = resolve));
    return { granted, grantNow, free };
  }
}

/** Services of the process that decide who runs. */
export interface PermitServices {
  /** Places of the sessions that run. */
  readonly running: RunPlaces;
  /** Places of attempts at steps in which a worker was lost. */
  readonly recovering: RunPlaces;
  readonly maxRecoveries: number;
}

/** The right of one session to run. */
export class RunPermit {
  readonly #log: SessionLog;
  readonly #services: PermitServices;
  #place: RunPlace | undefined;
  /** The place among the attempts at steps that were left open. */
  #attempt: RunPlace | undefined;

  constructor(log: SessionLog, services: PermitServices) {
    this.#log = log;
    this.#services = services;
  }

  /** True if the open step has ended the process too often to be resumed without being asked for. */
  get isLooping(): boolean {
    return this.#log.attempts > this.#services.maxRecoveries;
  }

  /** Takes a place, which is kept until the session rests. Returns undefined if it is there at once. */
  take(): Promise<void> | undefined {
    if (this.#place !== undefined) return undefined;
    this.#place = this.#services.running.take();
    return this.#place.granted;
  }

  /** Does not wait for anybody else any longer. */
  grantNow(): void {
    this.#place?.grantNow();
    this.#attempt?.grantNow();
  }

  free(): void {
    this.#place?.free();
    this.#place = undefined;
  }

  /**
   * Starts an attempt at a step in which a worker was lost. The last one that a step has waits until it is the only one, unless it is only
   * to end. Returns a function to call when the step is recorded, or the run has ended.
   */
  async startAttempt(isEnding: boolean): Promise<() => void> {
    const { recovering, maxRecoveries } = this.#services;
    const isAlone = this.#log.attempts >= maxRecoveries && !isEnding;
    const attempt = recovering.take(isAlone ? 1 : Infinity);
    this.#attempt = attempt;
    await attempt.granted;
    return attempt.free;
  }
}
