import type { BaseEvent } from '../events/index.ts';
import type { Clock, Json, JsonObject } from '../lib/index.ts';
import type {
  Commit,
  EngineOptions,
  InferContext,
  InferEvent,
  InferState,
  Orchestrator,
  RunResult,
  RunState,
} from '../step-by-step/index.ts';
import type { DurableEngine } from './durable-engine.ts';

/** A commit as its row tells it: the same at every attempt. */
export interface RecordedCommit<State = RunState> {
  /** The state after it. */
  readonly state: State;
  readonly change: JsonObject;
  /** Events since the commit before, as plain data; numbered without a gap. Empty if a note is kept in their place. */
  readonly events: readonly JsonObject[];
  readonly note: Json | undefined;
  /** True if an earlier attempt has recorded it. */
  readonly isReplayed: boolean;
}

type PassedOn<State> = Pick<
  EngineOptions<State>,
  'between' | 'beforeEnd' | 'onOutage' | 'onProblem' | 'sessionId' | 'stoppedBy' | 'wallStartedAt'
>;

/** Options of a durable run that do not depend on the kind of agent. */
export interface DurableOptions<State = RunState, Event extends BaseEvent = BaseEvent> extends PassedOn<State> {
  readonly engine: DurableEngine;
  /** Id of the execution: the same at every attempt. Idempotency keys and ids of messages begin with it. */
  readonly executionId: string;
  /** Interrupts the run, as a person who cancels it would. The end is recorded. */
  readonly signal?: AbortSignal | undefined;
  /** Receives events as they happen; those of an open step again when another attempt takes it again. */
  readonly onEvent?: ((event: Event) => unknown) | undefined;
  /**
   * Called for each recorded commit, in order, at every attempt: use nothing but its argument, and what the engine records in it is the
   * same each time. A rejection ends the attempt.
   */
  readonly onCommit?: ((commit: RecordedCommit<State>) => unknown) | undefined;
  /** Returns what is kept with a commit in place of its events. @default the events are kept */
  readonly toNote?: ((commit: Commit<State>) => Json) | undefined;
  /** Largest list of rows to record at once, in bytes of JSON. @default 8 MiB */
  readonly maxRowBytes?: number | undefined;
  /** @default the orchestrator's */
  readonly clock?: Clock | undefined;
}

/** Options that bound the work of one invocation. */
export interface BoundOptions {
  /** Number of steps after which the run is left as unfinished. */
  readonly maxSteps: number;
  /** True to leave the run as unfinished when it has to wait, instead of sleeping in the engine. @default false */
  readonly leavesToWait?: boolean;
}

/** A run that was left at its bounds. Run its state again, in an invocation of its own. */
export interface UnfinishedResult<State = RunState> {
  readonly status: 'unfinished';
  readonly state: State;
  /** Start of the wall clock: pass it on. */
  readonly wallStartedAt: number;
  /** Time to wait before that, if it was left to wait. */
  readonly wakeInMs?: number;
}

/** Result of a run whose work per invocation is bounded. */
export type BoundedResult<State = RunState, Output = unknown> = RunResult<State, Output> | UnfinishedResult<State>;

type ContextOption<Context> = unknown extends Context ? { readonly context?: unknown } : { readonly context: Context };

/** Options of runDurably() for one orchestrator. */
export type RunDurablyOptions<Given extends Orchestrator> = DurableOptions<InferState<Given>, InferEvent<Given>> &
  ContextOption<InferContext<Given>>;
