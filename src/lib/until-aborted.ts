/** Result of work whose signal aborted first. */
export const aborted: unique symbol = Symbol('aborted');

/** Waits for work until the signal aborts. Later results and errors of the work are ignored. */
export function untilAborted<Value>(work: PromiseLike<Value>, signal: AbortSignal | undefined): Promise<Value | typeof aborted> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(aborted);
    const leave = (): void => signal?.removeEventListener('abort', stop);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
    work.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}
