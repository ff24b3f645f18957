// Who waits for what comes of an action.
// A1. Whoever acted hears how the execution came to rest that took the action in, or why it was not taken in.

/** What an action waits for: the execution that took it in, or, until one has, its own entry. */
export type WaitTarget = { readonly execution: number } | { readonly entry: number };

interface Waiter {
  execution: number | undefined;
  readonly entry: number | undefined;
  readonly resolve: (execution: number) => void;
  readonly reject: (error: unknown) => void;
}

export class Waiters {
  readonly #all = new Set<Waiter>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  add(about: WaitTarget): Promise<number> {
    const coming = new Promise<number>((resolve, reject) => {
      const [execution, entry] = 'entry' in about ? [undefined, about.entry] : [about.execution, undefined];
      this.#all.add({ execution, entry, resolve, reject });
    });
    // Whoever does not wait for the end leaves nothing unhandled behind.
    coming.catch(() => undefined);
    return coming;
  }

  /** These actions were taken in by this execution. */
  taken(entries: readonly number[], execution: number): void {
    for (const waiter of this.#all) if (waiter.entry !== undefined && entries.includes(waiter.entry)) waiter.execution = execution;
  }

  /** This action could not be used. */
  dropped(entry: number, error: unknown): void {
    for (const waiter of [...this.#all]) {
      if (waiter.entry !== entry) continue;
      this.#all.delete(waiter);
      waiter.reject(error);
    }
  }

  /** The executions up to this one have come to rest. */
  settle(execution: number): void {
    for (const waiter of [...this.#all]) {
      if (waiter.execution === undefined || waiter.execution > execution) continue;
      this.#all.delete(waiter);
      waiter.resolve(waiter.execution);
    }
  }

  /** Nothing more comes of anything. */
  fail(error: unknown): void {
    for (const waiter of this.#all) waiter.reject(error);
    this.#all.clear();
  }
}
