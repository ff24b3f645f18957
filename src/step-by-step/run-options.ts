import type { StopRequest } from '../continuation/index.ts';
import type { Effects } from '../effects/index.ts';
import type { BaseEvent, EventHeader, EventSink, ProblemReporter } from '../events/index.ts';
import type { RequestRecorder } from '../inference/index.ts';
import type { Callback, Clock, IdSource, Random } from '../lib/index.ts';
import type { LoopEvent } from './loop-events.ts';
import type { OuterStep, WaitingTime } from './outer-step.ts';
import type { RunState } from './run-state.ts';
import type { StepResult } from './step-result.ts';

/** Sources of time, ids and randomness, and receivers of events. All have working defaults. */
export interface Ports {
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly random?: Random;
  /** Receives the events of every run. */
  readonly events?: EventSink;
  /** Receives errors of listeners and results that came too late. @default console.error */
  readonly onProblem?: ProblemReporter;
}

/** One append to the store. */
export interface Commit<State> {
  readonly state: State;
  /** The step that was recorded, if one was. */
  readonly result?: StepResult | undefined;
  /** All numbered events since the commit before. */
  readonly events: readonly BaseEvent[];
}

/**
 * Answer to `between`: continue, continue with another state (a message arrived), or leave the run as it is. A run that is left has no result
 * yet: take its state from `run()`. Events are numbered on from the `lastSeq` of another state.
 */
export type Between<State> = undefined | ReplacedState<State> | { readonly leave: true };

/** The state that a run continues with. */
interface ReplacedState<State> {
  readonly state: State;
  /** True if the state was stored with the events that `between` received: the next commit does not get them again. @default false */
  readonly isCommitted?: boolean;
}

/** Emits an event of the host among those of a run. It is numbered and stored as they are. */
export type EmitEvent = (make: (header: EventHeader) => BaseEvent) => void;

/** Rule for a provider that is down. */
export interface OutageRule {
  /** Longest time to wait for it, from the first failure, in milliseconds. */
  readonly maxMs: number;
}

/** Options for engines: they store a run, drive it between steps, and make every attempt at it come out the same. */
export interface EngineOptions<State = RunState> {
  /**
   * Stores each step before the next one starts; a promise is awaited. May return the state to continue with, such as the stored one read
   * again. A rejection ends the run and rejects it.
   */
  readonly commit?: Callback<[commit: Commit<State>], unknown>;
  /** Puts an engine between the run and its effects. `time` counts waits of the engine in the step that is open. */
  readonly effects?: (direct: Effects, time: WaitingTime) => Effects;
  /** Asked before each step, the first included. Receives the numbered events since the last commit too. */
  readonly between?: Callback<[state: State, uncommitted: readonly BaseEvent[]], Between<State> | Promise<Between<State>>> | undefined;
  /** Called before the record that ends an execution is made: events that are emitted here are stored with it, before its own. */
  readonly beforeEnd?: Callback<[emit: EmitEvent], void> | undefined;
  /**
   * Makes a step wait if it would end the run only because a provider is down: the run returns as waiting for the provider. Call
   * `state.retryNow()` at the time that the wait says, and run it again. @default the run fails
   */
  readonly onOutage?: OutageRule | undefined;
  /** Records what models are sent, in runs inside it too. @default nothing is recorded, and nothing computed for it */
  readonly requests?: RequestRecorder | undefined;
  /** Returns the number of processes that share the limits of models, for runs inside it too. @default 1 */
  readonly sharedBy?: (() => number) | undefined;
  /** Id of the session that this run belongs to; its events have it. @default the id of the state */
  readonly sessionId?: string | undefined;
  /** Id of an execution that starts with this run; the same at every attempt. */
  readonly executionId?: string | undefined;
  /** True if a process ended in the first step of this run: its event says so. @default false */
  readonly resumesStep?: boolean | undefined;
  /** Calls no hooks, in runs inside it neither: for a step that is only replayed until it ends. @default false */
  readonly skipsHooks?: boolean | undefined;
  /** Returns the person for whom the signal was aborted, and how often the step had ended the process: explanations name both. */
  readonly stoppedBy?: (() => Pick<StopRequest, 'person' | 'crashes'>) | undefined;
  /** Number of this attempt at the first step of this run, if a process ended in it before. @default 1 */
  readonly stepAttempt?: number | undefined;
  /** Start of the wall clock, for a run that continues one in another process. @default now */
  readonly wallStartedAt?: number | undefined;
  /** Clock of this run. @default the orchestrator's */
  readonly clock?: Clock | undefined;
  /** Ids of this run; the same at every attempt. @default the orchestrator's */
  readonly ids?: IdSource | undefined;
  /** Receives errors of this run, and of runs inside it, that nobody waits for. @default the orchestrator's */
  readonly onProblem?: ProblemReporter | undefined;
}

/** Options of one run. `Event` is the union that listeners get; an orchestrator with events of its own widens it. */
export interface RunOptions<State = RunState, Context = unknown, Event extends BaseEvent = LoopEvent> extends EngineOptions<State> {
  /** The host's own things for tools, hooks and instructions (a database, a tenant). Never stored. */
  readonly context?: Context | undefined;
  /** Interrupts the run: work in flight is abandoned, and the step is recorded with what it has. */
  readonly signal?: AbortSignal | undefined;
  /** Receives this run's events only. */
  readonly onEvent?: Callback<[event: Event], unknown> | undefined;
  /** The step that this run is part of: it shares that step's budget, end, effects and events. */
  readonly inside?: OuterStep | undefined;
}
