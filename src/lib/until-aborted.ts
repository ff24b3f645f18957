import { onAbort } from './abort-listeners.ts';

/** Result of work whose signal aborted first. */
export const aborted: unique symbol = Symbol('aborted');

/** Waits for work until the signal aborts. Later results and errors of the work are ignored. */
export function untilAborted<Value>(work: PromiseLike<Value>, signal: AbortSignal | undefined): Promise<Value | typeof aborted> {
  return new Promise((resolve, reject) => {
    const leave = onAbort(signal, () => resolve(aborted));
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
