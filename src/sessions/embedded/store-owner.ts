// The claim of this process on a store.
// Owns:     claiming, the heartbeat, and what is known about who holds the store.
// Does not: decide what is done with the store.
// N1. A claim that failed is tried again by the next call; one that was lost is not.
import type { Clock } from '../../lib/index.ts';
import { systemClock, systemIds } from '../../lib/index.ts';
import { RuntimeClosedError } from '../core/runtime-closed-error.ts';
import type { SessionStore } from '../store/session-store.ts';
import { claimStore, startHeartbeat } from './claim-store.ts';
import type { SessionRuntimeOptions } from './runtime-options.ts';
import type { ClaimedStore } from './session-log.ts';

interface OwnerServices {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly options: SessionRuntimeOptions;
  /** Aborted when the runtime ends; its reason says why. */
  readonly closing: AbortSignal;
  /** Called if another process has claimed the store. */
  readonly onLost: (error: unknown) => void;
}

export class StoreOwner {
  readonly #services: OwnerServices;
  readonly #id: string = systemIds();
  /** Settles when it turns out that another process holds the store. */
  readonly #heldByOther: Promise<void>;
  #noteOther = (): void => undefined;
  #claimed: Promise<ClaimedStore> | undefined;
  /** The process that holds the store, as far as it is known. */
  #holder: 'unknown' | 'this' | 'other' = 'unknown';
  #stopHeartbeat = (): void => undefined;

  constructor(services: OwnerServices) {
    this.#services = services;
    this.#heldByOther = new Promise((resolve) => (this.#noteOther = resolve));
  }

  /** True if the store is claimed, or is being claimed. */
  get hasClaim(): boolean {
    return this.#claimed !== undefined;
  }
  get holder(): 'unknown' | 'this' | 'other' {
    return this.#holder;
  }
  /** Identifies this runtime among those that use the store. */
  get id(): string {
    return this.#id;
  }

  claim(): Promise<ClaimedStore> {
    const { closing } = this.#services;
    this.#claimed ??= this.#claim().catch((error: unknown) => {
      this.#claimed = undefined;
      // The wait for another process ends with the reason of the abort.
      throw error === closing.reason ? new RuntimeClosedError(String(error)) : error;
    });
    return this.#claimed;
  }

  /** True if this process holds the store, false if another one does. Waits for the claim only as long as that is not known. */
  async holdsStore(claimed: () => Promise<unknown>): Promise<boolean> {
    if (this.#holder === 'unknown') await Promise.race([claimed(), this.#heldByOther]);
    return this.#holder === 'this';
  }

  /** Stops showing that this process is alive. */
  stop(): void {
    this.#stopHeartbeat();
  }

  /** Gives the store back, if it is held. */
  async release(): Promise<void> {
    const claimed = await this.#claimed?.catch(() => undefined);
    // If that fails, others find out that this process is gone.
    await claimed?.store.claims.release(claimed.epoch).catch(() => undefined);
  }

  async #claim(): Promise<ClaimedStore> {
    const { store, clock, options, closing, onLost } = this.#services;
    const { name, takeOver = false, standby = false, approvals, heartbeatClock = systemClock } = options;
    const onWait = (): void => {
      this.#holder = 'other';
      this.#noteOther();
    };
    const epoch = await claimStore(store, this.#id, { name, takeOver, standby, clock: heartbeatClock, onWait, signal: closing });
    this.#holder = 'this';
    this.#stopHeartbeat = startHeartbeat({ store, epoch, clock: heartbeatClock, onLost });
    if (closing.aborted) this.#stopHeartbeat();
    return { store, epoch, clock, approvals };
  }
}
