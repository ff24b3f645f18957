import type { ObjectOptions } from '@restatedev/restate-sdk';

/** Time that a model or a tool may take without anything being recorded. */
const longMs = 3_600_000;

/**
 * Options of all handlers. Nothing is retained after the end of an invocation: the session has it all, and what is erased there must not
 * stay elsewhere. Retries are quick, because a worker that takes the place of another one is there at once.
 */
export const handlerOptions: Pick<
  ObjectOptions,
  'inactivityTimeout' | 'abortTimeout' | 'journalRetention' | 'idempotencyRetention' | 'retryPolicy'
> = {
  inactivityTimeout: longMs,
  abortTimeout: longMs,
  journalRetention: 0,
  idempotencyRetention: 0,
  retryPolicy: { initialInterval: 50, maxInterval: 1000, exponentiationFactor: 2, maxAttempts: 1_000_000_000, onMaxAttempts: 'pause' },
};
