import type { Json } from '../lib/index.ts';

/**
 * An engine that keeps a journal, as an agent needs it. Both operations are recorded in the order of their calls; one is called after the
 * other has settled, never two at once.
 */
export interface DurableEngine {
  /** Keeps what `make` returns, and returns it again at this place when the execution is replayed. Does not call `make` then. */
  record<Value extends Json>(make: () => Value): Promise<Value>;
  /** Waits in the engine: a process that ends meanwhile does not lose the time that has passed. */
  sleep(ms: number): Promise<void>;
  /** Aborted when this attempt is over and nothing can be recorded any more. What runs is abandoned; another attempt continues. */
  readonly ended?: AbortSignal | undefined;
}
