import type { Orchestrator } from '../../step-by-step/index.ts';
import type { SessionRuntimeOptions, SessionStore } from '../index.ts';
import type { IngressOptions } from './ingress.ts';

/** Options of every endpoint. */
export interface EndpointOptions {
  /**
   * Public keys of the servers whose requests are answered, as the server prints them (`publickeyv1_…`). Without them, everybody who can
   * reach the port can run handlers.
   */
  readonly identityKeys?: readonly string[];
  /** Beginning of the names of the services. The same everywhere that the same sessions are used. @default 'Stepline' */
  readonly prefix?: string;
}

type RunOption =
  | 'agents'
  | 'states'
  | 'context'
  | 'onVersionChange'
  | 'approvals'
  | 'maxRecoveries'
  | 'maxConcurrent'
  | 'onOutage'
  | 'name'
  | 'onEvent'
  | 'onProblem'
  | 'clock'
  | 'ids';

/** Options of a worker. */
export interface ServeSessionsOptions<Given extends Orchestrator = Orchestrator>
  extends Pick<SessionRuntimeOptions<Given>, RunOption>, EndpointOptions {
  readonly ingress: IngressOptions;
  /** Store for the desk, if this worker is to serve that too. @default the desk is served elsewhere */
  readonly list?: SessionStore;
  /** Number of steps that one invocation takes; the next one continues with a fresh journal. @default 200 */
  readonly maxSteps?: number;
  /** Size of the largest change that is recorded. A server takes 32 MiB. @default 8 MiB */
  readonly maxRowBytes?: number;
}

/** Options of a desk. */
export interface ServeDeskOptions extends EndpointOptions {
  /** Store that holds a copy of the sessions for everybody who reads, and the mails that wait. */
  readonly list: SessionStore;
}
