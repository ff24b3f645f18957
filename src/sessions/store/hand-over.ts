/** Passes values on in the order in which they came, although each takes time to get ready. */
export class HandOver {
  /** The last value of each key on its way. */
  readonly #last = new Map<string, Promise<unknown>>();
  #closed: Promise<unknown> | undefined;

  /** Passes a value on when it is ready and all earlier ones of its key are passed on. Settles as `pass` does. */
  pass<Value, Result>(key: string, value: Value | Promise<Value>, pass: (value: Value) => Promise<Result>): Promise<Result> {
    const handed = this.#hand([value, this.#last.get(key), this.#closed], pass);
    const forget = (): void => this.#forget(key, passed);
    const passed: Promise<void> = handed.then(forget, forget);
    this.#last.set(key, passed);
    return handed.then(({ result }) => result);
  }

  /** Settles when everything that came until now is passed on; what comes later is passed on after that. */
  close(): Promise<unknown> {
    this.#closed ??= Promise.allSettled(this.#last.values());
    return this.#closed;
  }

  /** The result is in an object: the next value does not wait for it. */
  async #hand<Value, Result>(
    [value, ...earlier]: readonly [Value | Promise<Value>, ...(Promise<unknown> | undefined)[]],
    pass: (value: Value) => Promise<Result>,
  ): Promise<{ readonly result: Promise<Result> }> {
    // A value that fails early does not let the next one overtake those before it.
    const [ready] = await Promise.allSettled([value, ...earlier]);
    if (ready.status === 'rejected') throw ready.reason;
    return { result: pass(ready.value) };
  }

  #forget(key: string, passed: Promise<unknown>): void {
    if (this.#last.get(key) === passed) this.#last.delete(key);
  }
}
