// Callers that wait for the result of an action.
// A1. Whoever acted gets the execution that applied the action once it has ended or waits, or the reason why it was not applied.

/** The execution that an action went to, or, until one has applied it, its own entry. */
export type ActionTarget = { readonly execution: number } | { readonly entry: number };

interface Waiter {
  readonly entry?: number;
  /** Infinity until the action is applied. */
  execution: number;
  readonly resolve: (execution: number) => void;
  readonly reject: (error: unknown) => void;
}

export class Waiters {
  readonly #all = new Set<Waiter>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  add(target: ActionTarget): Promise<number> {
    const end = new Promise<number>((resolve, reject) => {
      this.#all.add({ execution: Number.POSITIVE_INFINITY, ...target, resolve, reject });
    });
    // A caller that fails before it waits leaves nothing unhandled behind.
    end.catch(() => undefined);
    return end;
  }

  /** The actions of these entries were applied to this execution. */
  apply(entries: readonly number[], execution: number): void {
    for (const waiter of this.#all) if (waiter.entry !== undefined && entries.includes(waiter.entry)) waiter.execution = execution;
  }

  /** The action of this entry could not be used. Returns false if nobody waited for it. */
  refuse(entry: number, error: unknown): boolean {
    const waiting = this.#take((waiter) => waiter.entry === entry);
    for (const { reject } of waiting) reject(error);
    return waiting.length > 0;
  }

  /** The executions up to this one have ended, or wait. */
  settle(last: number): void {
    for (const { execution, resolve } of this.#take((waiter) => waiter.execution <= last)) resolve(execution);
  }

  /** Rejects all of them. */
  fail(error: unknown): void {
    for (const { reject } of this.#take(() => true)) reject(error);
  }

  #take(fits: (waiter: Waiter) => boolean): readonly Waiter[] {
    const taken = [...this.#all].filter(fits);
    for (const waiter of taken) this.#all.delete(waiter);
    return taken;
  }
}
