import type { Clock, IdSource } from '../lib/index.ts';
import type { Actor, SessionRuntime, SessionStore } from '../sessions/index.ts';
import type { Output } from './output.ts';

/** Everything that a command works with. */
export interface CommandContext {
  /** A client of the store: it reads everything, and leaves actions to the workers. */
  readonly runtime: SessionRuntime;
  readonly store: SessionStore;
  readonly output: Output;
  /** Author of actions. */
  readonly by: Actor;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Longest wait for a worker; undefined returns as soon as an action is stored. */
  readonly timeoutMs: number | undefined;
  /** Ends what follows or waits. */
  readonly signal: AbortSignal;
}
