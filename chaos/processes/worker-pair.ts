// Two workers: one at work, one that stands by. One that ends is replaced.
// Owns:     which of them holds the store, and who held it before.
import type { Child } from './child.ts';
import { startChild } from './child.ts';
import type { Report, WorkerOrders } from './orders.ts';

/** A worker that has claimed the store. */
export interface Holder {
  readonly child: Child;
  readonly slot: number;
  readonly epoch: number;
  /** Time of its claim. */
  readonly claimedAt: number;
  /** The last entries at that time, if it was asked to read them. */
  readonly heads: Readonly<Record<string, number>> | undefined;
  /** Time of its first write. */
  readonly firstWriteAt: Promise<number>;
}

export interface WorkerPairOptions {
  /** The worker's file of each slot. */
  readonly scripts: readonly [string, string];
  readonly createOrders: (name: string) => WorkerOrders;
  /** Steps of all sessions. */
  readonly allSteps: number;
}

/** Longest time without a recorded step. */
const stallMs = 60_000;

export class WorkerPair {
  readonly #options: WorkerPairOptions;
  readonly #slots: (Child | undefined)[] = [undefined, undefined];
  readonly #listeners = new Set<() => void>();
  readonly all: { readonly child: Child; readonly slot: number }[] = [];
  readonly holders: Holder[] = [];
  #isOver = false;
  /** Steps that are recorded. */
  steps = 0;

  constructor(options: WorkerPairOptions) {
    this.#options = options;
  }

  get holder(): Holder | undefined {
    return this.holders.at(-1);
  }
  get allSteps(): number {
    return this.#options.allSteps;
  }
  /** The worker that stands by, if there is one. */
  get standby(): Child | undefined {
    return this.#slots.find((child) => child !== undefined && child !== this.holder?.child && !child.isGone);
  }

  get #children(): readonly Child[] {
    return this.#slots.filter((child) => child !== undefined);
  }

  start(): void {
    this.#start(0);
    this.#start(1);
  }

  /**
   * Settles when a condition holds, with true; it is looked at after each report of a worker, and now and then. If the time is over it
   * settles with false. If no time is given, it rejects once nothing moves.
   */
  async until(condition: () => boolean, withinMs?: number): Promise<boolean> {
    const began = performance.now();
    let [seen, since] = [this.steps, began];
    while (!condition()) {
      const now = performance.now();
      if (withinMs !== undefined && now - began > withinMs) return false;
      if (this.steps > seen) [seen, since] = [this.steps, now];
      if (withinMs === undefined && now - since > stallMs) throw new Error(`No step was recorded for ${stallMs / 1000} s; ${seen} are.`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(finish, 100);
        const listeners = this.#listeners;
        function finish(): void {
          clearTimeout(timer);
          listeners.delete(finish);
          resolve();
        }
        listeners.add(finish);
      });
    }
    return true;
  }

  /** Settles when one worker holds the store and the other one stands by. */
  async whenReady(): Promise<Holder> {
    for (;;) {
      await this.until(() => this.holder !== undefined && !this.holder.child.isGone);
      const holders = this.holders.length;
      await Promise.allSettled(this.#children.map((child) => child.expect('started')));
      const { holder } = this;
      if (holder !== undefined && !holder.child.isGone && this.holders.length === holders) return holder;
    }
  }

  /** Lets the workers end in order. */
  async finish(): Promise<void> {
    this.#isOver = true;
    for (const child of this.#slots) child?.command({ type: 'finish' });
    await Promise.all(this.#children.map(({ gone }) => gone));
  }

  /** Ends the workers at once. */
  kill(): void {
    this.#isOver = true;
    for (const child of this.#slots) child?.signal('SIGKILL');
  }

  #start(slot: number): void {
    const { scripts, createOrders } = this.#options;
    const script = scripts[slot] ?? scripts[0];
    const child: Child = startChild(script, createOrders(`worker-${this.all.length + 1}`), (report) => this.#onReport(child, slot, report));
    this.all.push({ child, slot });
    this.#slots[slot] = child;
    void child.gone.then(() => {
      if (!this.#isOver) this.#start(slot);
    });
  }

  #onReport(child: Child, slot: number, report: Report): void {
    if (report.type === 'claimed') {
      const { at: claimedAt, epoch, heads } = report;
      const firstWriteAt = child.expect('first-write').then(({ at }) => at);
      firstWriteAt.catch(() => undefined);
      this.holders.push({ child, slot, epoch, claimedAt, heads, firstWriteAt });
    }
    for (const call of [...this.#listeners]) call();
  }
}
