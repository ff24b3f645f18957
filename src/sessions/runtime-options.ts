import type { ProblemReporter } from '../events/index.ts';
import type { Clock, IdSource } from '../lib/index.ts';
import type { Message, MessageContent } from '../messages/index.ts';
import type { Grant, InferContext, InferEvent, Orchestrator, OutageRule, RunState } from '../step-by-step/index.ts';
import type { ActionOptions, ForkPoint, RecordedAction } from './action.ts';
import type { OnVersionChange } from './agents.ts';
import type { ExpiryOptions } from './expiry.ts';
import type { DamagedSession, Session, SessionFacts, SessionResult, SessionSummary, SessionWait } from './session.ts';
import type { SessionQuery, SessionStore } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';

/** Options of a session runtime. */
export interface SessionRuntimeOptions<Given extends Orchestrator = Orchestrator> {
  /** Agents that run the sessions. Several versions of one agent have the same id; the last one is the newest. */
  readonly agents: readonly Given[];
  readonly store: SessionStore;
  /** Returns the context of a run; called before each run. */
  readonly context?: (session: SessionFacts) => InferContext<Given> | Promise<InferContext<Given>>;
  /** Rule for sessions whose agent has changed since. @default 'continue' */
  readonly onVersionChange?: OnVersionChange;
  /** Rule for approvals that nobody gives. @default they wait for ever */
  readonly approvals?: ExpiryOptions;
  /** Number of times that the open step of a session is resumed after crashes; then the session waits for a person. @default 3 */
  readonly maxRecoveries?: number;
  /** Number of sessions that run at once; others wait for their turn, in order. Recovery uses half of it at most. @default 500 */
  readonly maxConcurrent?: number;
  /**
   * Rule for a provider that is down: a rate limit, a time-out, a 5xx or a lost connection that the retries of the agent do not outlast.
   * `fail`: the execution fails. `park`: the session waits for the provider and is tried again by itself, for an hour; `{ maxMs }`: for
   * this long. @default 'fail'
   */
  readonly onOutage?: 'fail' | 'park' | OutageRule;
  /** Name of this process, for others that want the store. */
  readonly name?: string;
  /** Takes the store from a live process that holds it; that process can write nothing more. @default false */
  readonly takeOver?: boolean;
  /** Waits until the process that holds the store is gone, and then takes its place. @default false */
  readonly standby?: boolean;
  /** Clock of the heartbeats, by which processes find out whether another is alive. For tests. @default the machine's clock */
  readonly heartbeatClock?: Clock;
  /** Number of idle sessions that stay in memory, so that they need not be read again. @default 100 */
  readonly keepInMemory?: number;
  /** Receives the events of all runs at once, pieces of text included; stored events are read with `events`. */
  readonly onEvent?: (event: InferEvent<Given>, session: SessionFacts) => unknown;
  /** Receives errors that nobody waits for. @default console.error */
  readonly onProblem?: ProblemReporter;
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

/** Options of a session runtime; `context` is required if an agent needs one. */
export type RuntimeOptionsFor<Given extends Orchestrator> = SessionRuntimeOptions<Given> &
  (unknown extends InferContext<Given> ? unknown : { readonly context: NonNullable<SessionRuntimeOptions<Given>['context']> });

/** A session to create. */
export interface NewSession {
  /** @default the only agent there is */
  readonly agent?: string;
  /** @default a new one */
  readonly id?: string;
  readonly tenant?: string;
  readonly owner?: string;
  readonly tags?: readonly string[];
}

/** An answer to a wait: pass back the wait that was shown. */
export type AnsweredWait = Pick<SessionWait, 'id'> & Partial<Pick<SessionWait, 'digest' | 'sessionId'>>;

/** An approval has to say what was shown. */
export type ApprovedWait = AnsweredWait & Pick<SessionWait, 'digest'>;

/** A page of sessions, newest first. */
export interface ListedSessions {
  readonly sessions: readonly (SessionSummary | DamagedSession)[];
  /** Ask with it for more; absent at the end. */
  readonly cursor?: string;
}

/** Sessions found at the start. */
export interface Recovery {
  /** Sessions that were interrupted and are resumed, or will be when it is their turn. */
  readonly resumed: readonly string[];
  /** Sessions that could not be resumed, with the reason. */
  readonly failed: readonly { readonly sessionId: string; readonly error: unknown }[];
}

/** Options for reading events. */
export interface EventsOptions {
  /** Number of the last event that you have: reading begins after it. @default 0, which reads all */
  readonly fromSeq?: number;
  /** Continues with events that are stored later, until the reader leaves. False ends at what is stored. @default false */
  readonly follow?: boolean;
  /** Replaces obvious secrets (keys, tokens, passwords) in what is returned; what is stored stays as it is. @default false */
  readonly redact?: boolean;
  /** Ends a reader that follows. */
  readonly signal?: AbortSignal;
}

/** Runs the sessions of a store. `Output` is the output of its agents' completed results. */
export interface SessionRuntime<State extends RunState = RunState, Output = unknown> {
  /**
   * Settles when the store is claimed, and interrupted sessions are resumed or wait for their turn. The other methods wait for the
   * claim only. A claim that failed is tried again by the next call of any of them.
   */
  readonly ready: Promise<Recovery>;
  /** Creates a session in which nothing was said yet. */
  create(session: NewSession, options: ActionOptions): Promise<Session<State>>;
  /** Sends a message. If a run is in progress, the message joins it at the next boundary. Settles with the execution that read it. */
  send(sessionId: string, content: MessageContent | Message, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Resumes a session that was left with something to do, or that waits because its step ended the process each time. One that waits for a
   * provider is tried at once. */
  resume(sessionId: string, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Ends the execution that runs or waits. */
  cancel(sessionId: string, reason: string, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Approves a waiting call, with other arguments if given. */
  approve(
    sessionId: string,
    wait: ApprovedWait,
    options: ActionOptions & { readonly args?: unknown },
  ): Promise<SessionResult<State, Output>>;
  /** Rejects a call; the model reads the reason. */
  reject(
    sessionId: string,
    wait: AnsweredWait,
    options: ActionOptions & { readonly reason?: string },
  ): Promise<SessionResult<State, Output>>;
  /** Answers a wait: the output of a client tool, the true result of a call, or a person's input. */
  answer(
    sessionId: string,
    wait: AnsweredWait,
    options: ActionOptions & { readonly value: unknown },
  ): Promise<SessionResult<State, Output>>;
  /** Raises the limits of the execution that waits or runs. */
  grant(sessionId: string, amounts: Grant, options: ActionOptions): Promise<SessionResult<State, Output>>;
  /** Creates a separate session from the state of this one after a step. */
  fork(sessionId: string, at: Omit<ForkPoint, 'sessionId'>, options: ActionOptions & Omit<NewSession, 'agent'>): Promise<Session<State>>;
  get(sessionId: string): Promise<Session<State>>;
  list(query?: SessionQuery): Promise<ListedSessions>;
  /** Lists the actions on a session in their order, with author and time. */
  actions(sessionId: string): Promise<readonly RecordedAction[]>;
  /** Reads the stored events in order. They hold what was stored, secrets in arguments and results included, unless redacted. */
  events(sessionId: string, options?: EventsOptions): AsyncIterable<StoredEvent>;
  /** Takes no more work, lets open steps end, and leaves the rest to the next runtime. */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}
