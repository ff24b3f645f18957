/** Whoever wants to be called. */
export class Calls {
  readonly #all = new Set<() => void>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** Returns what takes the call back. */
  add(call: () => void): () => void {
    // Wrapped, so that the same function can be added twice.
    const own = (): void => {
      call();
    };
    this.#all.add(own);
    return () => {
      this.#all.delete(own);
    };
  }

  call(): void {
    for (const call of [...this.#all]) call();
  }
}
