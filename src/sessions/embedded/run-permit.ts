// The right of one session to run.
// Owns:     its place among the sessions that run at once, and among the attempts at steps in which a worker was lost.
import type { RecoveryGate, RunSlot, RunSlots } from './run-slots.ts';
import type { SessionLog } from './session-log.ts';

/** Services of the process that decide who runs. */
export interface PermitServices {
  readonly slots: RunSlots;
  readonly recoveries: RecoveryGate;
  readonly maxRecoveries: number;
}

/** One attempt to run the open step. */
export interface RunAttempt {
  /** Stores that the step is run here, unless that is stored. */
  store(): Promise<void>;
  /** The step is recorded, or the run has ended. */
  end(): void;
}

export class RunPermit {
  readonly #log: SessionLog;
  readonly #services: PermitServices;
  #slot: RunSlot | undefined;
  /** The place among the attempts at steps that were left open. */
  #attempt: RunSlot | undefined;

  constructor(log: SessionLog, services: PermitServices) {
    this.#log = log;
    this.#services = services;
  }

  /** True if the open step has ended the process too often to be resumed without being asked for. */
  get isLooping(): boolean {
    return this.#log.attempts > this.#services.maxRecoveries;
  }
  /** True if the open step is not resumed again, should it end the process once more. */
  get isLastAttempt(): boolean {
    return this.#log.attempts >= this.#services.maxRecoveries;
  }

  /** Takes a place, which is kept until the session rests. Returns undefined if it is there at once. */
  take(): Promise<void> | undefined {
    if (this.#slot !== undefined) return undefined;
    this.#slot = this.#services.slots.take();
    return this.#slot.granted;
  }

  /** Does not wait for anybody else any longer. */
  grantNow(): void {
    this.#slot?.grantNow();
    this.#attempt?.grantNow();
  }

  free(): void {
    this.#slot?.free();
    this.#slot = undefined;
  }

  /** Starts an attempt. The last one that a step has waits until it is the only one, unless it is only to end. */
  async startAttempt({ hasOpenWork, isCancelled }: { readonly hasOpenWork: boolean; readonly isCancelled: boolean }): Promise<RunAttempt> {
    const attempt = this.#log.attempts > 0 && hasOpenWork ? this.#services.recoveries.enter(this.isLastAttempt && !isCancelled) : undefined;
    this.#attempt = attempt;
    await attempt?.granted;
    return {
      store: () => this.#log.markStepping(),
      end: () => attempt?.free(),
    };
  }
}
