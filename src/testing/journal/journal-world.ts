import type { DurableEngine } from '../../journal/index.ts';
import type { Json } from '../../lib/index.ts';

/** One attempt at an execution. */
export interface JournalAttempt {
  readonly engine: DurableEngine;
  /** Ends the attempt as a crash of its process does, so that the world makes another one. Does not return. */
  readonly crash: () => Promise<never>;
}

/** An engine to test. */
export interface JournalWorld {
  /**
   * Runs `body` as one execution of the engine: calls it, and again on the same journal after each crash. Returns what the attempt that
   * ended has returned. Executions may run side by side.
   */
  execute<Value extends Json>(id: string, body: (attempt: JournalAttempt) => Promise<Value>): Promise<Value>;
}
