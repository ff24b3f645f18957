import type { ObjectOptions } from '@restatedev/restate-sdk';

/** Time that a model or a tool may take without anything being recorded. */
const longMs = 3_600_000;

/**
 * Options of all handlers. Nothing is retained after an invocation ends: the session has everything, and data erased there must not remain
 * elsewhere. Retries are quick, because another worker can take over at once.
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
