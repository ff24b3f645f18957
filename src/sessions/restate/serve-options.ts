import type { Orchestrator } from '../../step-by-step/index.ts';
import type { SessionRuntimeOptions, SessionStore } from '../index.ts';
import type { IngressOptions } from './ingress.ts';

/** Options that all endpoints share. */
export interface EndpointOptions {
  /**
   * Public keys of the servers whose requests are answered, as the server prints them (`publickeyv1_…`). Without them, anyone who can reach
   * the port can run handlers.
   */
  readonly identityKeys?: readonly string[];
  /** Prefix of the service names. Use the same for workers, desk and application. @default 'Stepline' */
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
  /** Store for the desk, if this worker should serve the desk too. @default the desk is served elsewhere */
  readonly list?: SessionStore;
  /** Maximum number of steps per invocation; the next invocation continues with a fresh journal. @default 200 */
  readonly stepsPerInvocation?: number;
  /** Maximum size of one change, in bytes. The server accepts 32 MiB. @default 8 MiB */
  readonly maxRecordBytes?: number;
}

/** Options of a desk. */
export interface ServeDeskOptions extends EndpointOptions {
  /** Store for pending mails and for the copy of the sessions that readers use. */
  readonly list: SessionStore;
}
