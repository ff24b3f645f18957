// The surroundings that a session runtime is tested in.
// Owns:     what the suite can do to them: end the worker, start it again, move time, open gates, read what tools did.
// Does not: know the number of processes, or the store of the sessions.
import type { SessionRuntime, SessionRuntimeOptions } from '../../sessions/index.ts';

/**
 * An ability that not every world has.
 * `kill`: the worker can end without warning, and be started again. `drain`: it can end in order, and be started again.
 * `client`: the application is in another process than the worker, and can act while no worker runs. `time`: time can be moved on.
 * `workers`: several workers can run at once.
 */
export const WorldAbility = { Kill: 'kill', Drain: 'drain', Client: 'client', Time: 'time', Workers: 'workers' } as const;
export type WorldAbility = (typeof WorldAbility)[keyof typeof WorldAbility];

/** Options of the runtime that runs sessions. Plain data, so that a process can be started with them. */
export interface RuntimeWorldOptions extends Pick<SessionRuntimeOptions, 'approvals' | 'maxRecoveries' | 'onOutage' | 'onVersionChange'> {
  /** Release of the agents, for `createConformanceAgents`. @default '1' */
  readonly release?: string;
}

/** A place for sessions, a worker that runs them, and an application that uses them. */
export interface RuntimeWorld {
  /**
   * The runtime as the application holds it. With the ability `client` it stays the same whatever happens to the worker; otherwise
   * it is that of the worker that was started last.
   */
  readonly runtime: SessionRuntime;
  /** Lines that the agents recorded in all processes, in order. */
  records(): Promise<readonly string[]>;
  /** Opens a gate, for those who wait at it and for all who come later, in every process. */
  open(gate: string): Promise<void>;
  /** Ends the worker without warning, the first one of several: nothing that it was about to do happens. */
  kill?(): Promise<void>;
  /** Lets the worker end in order, the first one of several. */
  drain?(): Promise<void>;
  /** Starts one more worker, beside those that run. */
  add?(): Promise<void>;
  /** Starts a worker after the last one ended, with other options if given. Settles when it has resumed what was interrupted. */
  restart?(options?: RuntimeWorldOptions): Promise<void>;
  /** Ends the application's side in order: its runtime takes no more work. */
  leave?(): Promise<void>;
  /** Moves time on, in every process. */
  advance?(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

/** Creates a world with no sessions in it, and a worker that is ready. */
export type RuntimeWorldFactory = (options: RuntimeWorldOptions) => Promise<RuntimeWorld>;
