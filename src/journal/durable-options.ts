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

/** A commit as recorded in its row: the same in every attempt. */
export interface RecordedCommit<State = RunState> {
  /** State after the commit. */
  readonly state: State;
  readonly change: JsonObject;
  /** Events since the previous commit, as plain data; numbered without gaps. Empty if a note is stored instead. */
  readonly events: readonly JsonObject[];
  readonly note: Json | undefined;
  /** True if an earlier attempt recorded it. */
  readonly isReplayed: boolean;
}

type PassedOn<State> = Pick<
  EngineOptions<State>,
  'between' | 'beforeEnd' | 'onOutage' | 'onProblem' | 'sessionId' | 'stoppedBy' | 'wallStartedAt'
>;

/** Options of a durable run that do not depend on the kind of agent. */
export interface DurableOptions<State = RunState, Event extends BaseEvent = BaseEvent> extends PassedOn<State> {
  readonly engine: DurableEngine;
  /** Id of the execution, the same in every attempt. Idempotency keys and message ids start with it. */
  readonly executionId: string;
  /** Interrupts the run as a user would. The end is recorded. */
  readonly signal?: AbortSignal | undefined;
  /** Receives events as they happen. Events of an open step come again if another attempt repeats the step. */
  readonly onEvent?: ((event: Event) => unknown) | undefined;
  /**
   * Called for each recorded commit, in order, in every attempt. If you use the engine inside it, depend on nothing but its argument, so
   * that every attempt does the same. A rejection ends the attempt.
   */
  readonly onCommit?: ((commit: RecordedCommit<State>) => unknown) | undefined;
  /** Returns a value to store with a commit instead of its events. @default the events are stored */
  readonly toNote?: ((commit: Commit<State>) => Json) | undefined;
  /** Maximum size of one recording, in bytes of JSON. @default 8 MiB */
  readonly maxRecordBytes?: number | undefined;
  /** @default the orchestrator's */
  readonly clock?: Clock | undefined;
}

/** Options that limit the work of one invocation. */
export interface BoundOptions {
  /** Number of steps after which runDurably() returns an unfinished result. */
  readonly maxSteps: number;
  /** True to return an unfinished result when the run has to wait, instead of sleeping in the engine. @default false */
  readonly leavesToWait?: boolean;
}

/** Result of a run that reached its bounds. Continue from its state in another invocation. */
export interface UnfinishedResult<State = RunState> {
  readonly status: 'unfinished';
  readonly state: State;
  /** Start of the wall clock. Pass it to the next invocation. */
  readonly wallStartedAt: number;
  /** Time to wait before the next invocation, if the run has to wait. */
  readonly resumeAfterMs?: number;
}

/** Result of a run with limited work per invocation. */
export type BoundedResult<State = RunState, Output = unknown> = RunResult<State, Output> | UnfinishedResult<State>;

type ContextOption<Context> = unknown extends Context ? { readonly context?: unknown } : { readonly context: Context };

/** Options of runDurably() for one orchestrator. */
export type RunDurablyOptions<Given extends Orchestrator> = DurableOptions<InferState<Given>, InferEvent<Given>> &
  ContextOption<InferContext<Given>>;
