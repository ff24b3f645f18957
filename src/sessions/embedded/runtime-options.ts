import type { ProblemReporter } from '../../events/index.ts';
import type { Clock, IdSource } from '../../lib/index.ts';
import type { InferContext, InferEvent, Orchestrator, OutageRule, RunState, StateType } from '../../step-by-step/index.ts';
import type { SessionEvent } from '../core/action-events.ts';
import type { OnVersionChange } from '../core/agents.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import type { SessionFacts } from '../core/session.ts';
import type { RuntimeRole, SessionRuntime, SessionWorker } from '../core/session-runtime.ts';
import type { SessionStore } from '../store/session-store.ts';

/** Options of a session runtime. */
export interface SessionRuntimeOptions<Given extends Orchestrator = Orchestrator> {
  /**
   * Agents that run the sessions. Several versions of one agent have the same id; the last one is the newest. A client may have none:
   * its results then have no typed output.
   */
  readonly agents: readonly Given[];
  readonly store: SessionStore;
  /**
   * `worker`: runs sessions, as any number of other workers on the same store do. `client`: runs none by itself. It reads everything, and its
   * actions wait in the store until a worker applies them. @default 'worker'
   */
  readonly role?: RuntimeRole;
  /** Kinds of states that can be read without their agent. For clients that only read. @default none */
  readonly states?: readonly StateType[];
  /** Returns the context of a run; called before each run. */
  readonly context?: (session: SessionFacts) => InferContext<Given> | Promise<InferContext<Given>>;
  /** Rule for sessions whose agent has changed since. @default 'continue' */
  readonly onVersionChange?: OnVersionChange;
  /** Rule for approvals that nobody gives. @default they wait for ever */
  readonly approvals?: ExpiryOptions;
  /** Number of times that the open step of a session is resumed after crashes; then the session waits for a person. @default 3 */
  readonly maxRecoveries?: number;
  /** Number of sessions that run in this process at once; others wait for their turn, or for another worker. @default 500 */
  readonly maxConcurrent?: number;
  /**
   * Rule for a provider that is down: a rate limit, a time-out, a 5xx or a lost connection that the retries of the agent do not outlast.
   * `fail`: the execution fails. `park`: the session waits for the provider and is tried again by itself, for an hour; `{ maxMs }`: for
   * this long. @default 'fail'
   */
  readonly onOutage?: 'fail' | 'park' | OutageRule;
  /** Name of this process, for people who ask which worker runs what. */
  readonly name?: string;
  /**
   * Time without a sign of life after which another worker counts as gone. One whose process or connection is seen to end counts as gone at
   * once. Longer than any tool blocks the event loop. @default 15 s
   */
  readonly silenceMs?: number;
  /** Clock of the signs of life, by which processes find out whether another is alive. For tests. @default the machine's clock */
  readonly heartbeatClock?: Clock;
  /** Number of idle sessions that stay in memory, so that they need not be read again. @default 100 */
  readonly keepInMemory?: number;
  /** Receives the events of all runs at once, pieces of text and what people did included; stored events are read with `events`. */
  readonly onEvent?: (event: InferEvent<Given> | SessionEvent, session: SessionFacts) => unknown;
  /** Receives errors that nobody waits for. @default console.error */
  readonly onProblem?: ProblemReporter;
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

/** Options of a session runtime; `context` is required if an agent needs one. */
export type RuntimeOptionsFor<Given extends Orchestrator> = SessionRuntimeOptions<Given> &
  (unknown extends InferContext<Given> ? unknown : { readonly context: NonNullable<SessionRuntimeOptions<Given>['context']> });

/** A runtime that runs sessions of its store in this process, or, as a client, asks the processes that do. */
export type EmbeddedRuntime<State extends RunState = RunState, Output = unknown> = SessionRuntime<State, Output> & SessionWorker;
