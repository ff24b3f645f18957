import type { DurableEngine } from '../../journal/index.ts';
import type { Json } from '../../lib/index.ts';

/** One attempt at an execution. */
export interface JournalAttempt {
  readonly engine: DurableEngine;
  /** Ends the attempt as a crash of its process would, so that the world starts another one. Never resolves. */
  readonly crash: () => Promise<never>;
}

/** An engine to test. */
export interface JournalWorld {
  /**
   * Runs `body` as one execution of the engine: calls it, and calls it again on the same journal after each crash. Returns the result of
   * the attempt that finished. Several executions may run at once.
   */
  execute<Value extends Json>(id: string, body: (attempt: JournalAttempt) => Promise<Value>): Promise<Value>;
}
