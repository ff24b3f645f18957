import type { Json } from '../lib/index.ts';

/**
 * A durable execution engine, as runDurably() uses it. Operations are recorded in the order in which they are called. Each is called after
 * the previous one has settled, never two at once.
 */
export interface DurableEngine {
  /** Stores the return value of `make`. On replay, returns the stored value at the same position and does not call `make`. */
  record<Value extends Json>(make: () => Value): Promise<Value>;
  /** Sleeps in the engine: if the process ends during the sleep, the time that has passed still counts. */
  sleep(ms: number): Promise<void>;
  /** Aborts when this attempt is over and can record nothing more. Running calls are interrupted; another attempt continues. */
  readonly signal?: AbortSignal | undefined;
}
