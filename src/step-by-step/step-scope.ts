import type { ContinuationEvaluation } from '../continuation/index.ts';
import type { Effects } from '../effects/index.ts';
import type { BaseEvent, EventHeader, ProblemReporter } from '../events/index.ts';
import type { PriceSource, RequestRecorder } from '../inference/index.ts';
import type { Clock, IdSource, JsonObject } from '../lib/index.ts';
import type { MessageStore, Usage } from '../messages/index.ts';
import type { NestOptions, OuterStep, WaitingTime } from './outer-step.ts';
import type { Cost, Interruption } from './step.ts';
import type { StepModels } from './step-models.ts';

/** Signs that a step has to end. */
export interface StepControl {
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Set once the run is interrupted. */
  readonly interruption: Interruption | undefined;
  /** Set once the run ends after this step: an interruption, or a request to stop. */
  readonly ending: Interruption | undefined;
  /** The first evaluation that forbids continuation: nothing more needs to start in this step. */
  readonly forbidding: ContinuationEvaluation | undefined;
}

/** The clock of a step. */
export interface StepTime extends WaitingTime {
  readonly clock: Clock;
}

/** Emits events of a step. */
export interface StepEvents {
  /** Emits an event of the module's own with the next number. */
  emit(make: (header: EventHeader) => BaseEvent): void;
  /** Emits a piece of something larger: without a number of its own, and never stored. */
  emitPiece(make: (header: EventHeader) => BaseEvent): void;
  /** Emits that the step started, unless that was emitted. A process that may forbid its steps calls it once it did not. */
  beginStep(): void;
  /**
   * Names the participant whose turn this step is, on its events and on those of runs inside it. A process whose steps are turns calls
   * it once, before anything is done in the turn.
   */
  beginTurn(participant: string): void;
}

/** Something to keep beside the step. */
export interface StepNote {
  /** Judged together with this step. */
  readonly evaluations?: readonly ContinuationEvaluation[];
  /** Spending beside that of the step itself. */
  readonly usage?: Usage;
  readonly cost?: Cost | undefined;
  /** Laid over the state's metadata. */
  readonly metadata?: JsonObject;
  /** The conversation before the step's own messages. */
  readonly store?: MessageStore;
}

/** Keeps what belongs to a step, however the step ends. */
export interface StepNotebook {
  /** Adds evaluations, spending, and changes to the conversation and the metadata. */
  add(note: StepNote): void;
  /** Returns metadata with the noted metadata over it. */
  over(metadata: JsonObject): JsonObject;
}

/** Prices, as the run around this one knows them. */
export interface StepBudget {
  /** True if a run around this one watches the cost. */
  readonly watchesCost: boolean;
  readonly price: PriceSource | undefined;
}

/** Runs inside a step. */
export interface StepNesting {
  /** Begins the id of every wait in this step, seen from the top; empty at the top. */
  readonly path: string;
  /** Opens this step to a run inside it, whose effects have this key before theirs. */
  openInside(key: string, options: NestOptions): OuterStep;
}

/** The ports that a step may use while it runs. */
export interface StepScope<Context = unknown> {
  readonly executionId: string;
  readonly stepNumber: number;
  /** The host's own things (a database, a tenant). Given per run, never stored. */
  readonly context: Context;
  /** True if a limit was reached and this step has to sum up. */
  readonly finalizing: boolean;
  /** True if the step is only replayed until it ends: no hook is called. */
  readonly skipsHooks?: boolean;
  readonly ids: IdSource;
  /** Runs everything with a side effect: model calls, tools, waits. */
  readonly effects: Effects;
  /** Receives errors that do not harm the step. */
  readonly onProblem: ProblemReporter;
  /** Signals when to end early. */
  readonly control: StepControl;
  readonly time: StepTime;
  readonly events: StepEvents;
  /** Keeps evaluations, spending and changes, however the step ends. */
  readonly notes: StepNotebook;
  readonly budget: StepBudget;
  /** Keeps which models failed lately. */
  readonly models: StepModels;
  /** Records what models are sent; undefined if nobody stores it. */
  readonly requests?: RequestRecorder | undefined;
  /** Opens the step to runs inside it. */
  readonly nesting: StepNesting;
}
