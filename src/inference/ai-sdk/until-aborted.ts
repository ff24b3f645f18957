/** Stands for the result of work that was called off. */
export const aborted: unique symbol = Symbol('aborted');

/** Waits for work, but no longer than until the signal aborts. What the work does later is nobody's concern. */
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
