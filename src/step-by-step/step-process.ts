import type { ContinuationCriteria, ContinuationEvaluation, Findings, StopReason } from '../continuation/index.ts';
import type { Effects } from '../effects/index.ts';
import type { BaseEvent, EventHeader } from '../events/index.ts';
import type { PriceOf } from '../inference/index.ts';
import type { Clock, IdSource, JsonObject } from '../lib/index.ts';
import type { NestOptions, OuterStep } from './outer-step.ts';
import type { RunState } from './run-state.ts';
import type { EmptyStep, Interruption } from './step.ts';
import type { StepNote } from './step-notes.ts';
import type { StepResult } from './step-result.ts';
import type { Wait } from './waiting.ts';

/** The kind of step that a kind of state is made of. */
export type StepOf<State> = State extends RunState<infer S> ? S : never;

/** What a producer hands back: a whole step, or one that has to wait for somebody. */
export type Produced<S> =
  | {
      readonly type: 'step';
      readonly step: S;
      /** True where nothing of it was cut off, although the run was interrupted meanwhile. @default false */ readonly isWhole?: boolean;
    }
  | { readonly type: 'waiting'; readonly partial: S; readonly waits: readonly Wait[] };

/** What a step may use while it runs. */
export interface StepScope<Context = unknown> {
  readonly executionId: string;
  readonly stepNumber: number;
  /** The host's own things (a database, a tenant). Given per run, never stored. */
  readonly context: Context;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** What interrupted the run, for the step that is handed in with what it had. */
  readonly interruption: Interruption | undefined;
  /** Why the run ends after this step, where somebody has asked it to: an interruption, or a request to stop. */
  readonly ending: Interruption | undefined;
  /** True where a limit was reached and this step is to sum up, without tools. */
  readonly finalizing: boolean;
  readonly effects: Effects;
  /** True where a run around this one asks what things cost. */
  readonly watchesCost: boolean;
  /** What usage costs, as the run around this one knows it. */
  readonly price: PriceOf | undefined;
  /** Stands before the id of what is waited for in this step, seen from the top; empty at the top. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The first vote against going on that was noted: nothing more needs to begin in this step. */
  readonly forbidding: ContinuationEvaluation | undefined;
  /** Notes what is kept whatever becomes of the step: votes, what was spent, changes to the conversation and the metadata. */
  note(note: StepNote): void;
  /** Metadata with what was noted over it. */
  noted(metadata: JsonObject): JsonObject;
  /** Opens this step to a run inside it, whose effects stand under this key. */
  nest(key: string, options: NestOptions): OuterStep;
  /**
   * Says whose turn this step is: its events, and those of runs inside it, name that participant from now on. A process whose steps
   * are turns calls it once, before anything is done in the turn.
   */
  beginTurn(participant: string): void;
  /** From now until the returned call, time counts as waiting: on the wall clock only, and nowhere where it is a person's. */
  beginWaiting(options?: { readonly forPerson?: boolean }): () => void;
  /** Tells an event of the room's own. It gets the next number, unless it is a piece of something larger. */
  emit(make: (header: EventHeader) => BaseEvent, options?: { readonly numbered?: boolean }): void;
}

/** What there is to see when something was recorded. */
export interface Observed<State, Context = unknown> {
  readonly state: State;
  readonly context: Context;
  /** The step that was recorded; absent where a start was refused. */
  readonly result?: StepResult<StepOf<State>>;
  /** The reason that ended the execution; absent where it goes on or waits. */
  readonly stopReason?: StopReason;
}

/**
 * What makes an orchestrator of the loop: how a step is produced, and by which rules it is judged.
 * Stateless: everything it needs to go on after a pause stands in the state.
 */
export interface StepProcess<State extends RunState, Context = unknown> {
  /** The kind of orchestrator, as events name it. */
  readonly name: string;
  /** The rules. The error policy among them is also the one by which the loop waits and counts. */
  readonly criteria: ContinuationCriteria<State>;
  /** True where a step is a turn of one of several: that it began is told when it is known whose turn it is. @default false */
  readonly takesTurns?: boolean;
  /** How long the step may take that sums up after a limit. @default 30_000 */
  readonly finalizeMs?: number;
  /** Who carries executions out; kept on each that it starts. */
  readonly identity?: JsonObject;
  /** Refuses a run that cannot work, by throwing: a context that is missing. */
  checkContext?(context: unknown): void;
  /** The time left under rules that are not among the criteria. */
  remainingMs?(state: State, findings: Findings): number | undefined;
  /** Decision-relevant work before a start is judged; what it throws refuses the start. */
  enter?(state: State, scope: StepScope<Context>): void | Promise<void>;
  /** Shapes what this one call sees; the change is not kept. */
  prepare?(state: State, scope: StepScope<Context>): State | Promise<State>;
  /** Makes the next step, or goes on with `state.pendingStep`. Anything it throws becomes a failed step. */
  produce(state: State, scope: StepScope<Context>): Promise<Produced<StepOf<State>>>;
  /** Decision-relevant work on the candidate, such as a critic. Returns the step as it shall be judged. */
  inspect?(candidate: State, scope: StepScope<Context>): StepOf<State> | Promise<StepOf<State>>;
  /** Whether ending now would leave something undone that the step itself does not show. Pure. */
  workLeft?(candidate: State): boolean;
  /** What else is told of a step when it is recorded: what its producer had no chance to tell. */
  eventsOf?(step: StepOf<State>, next: () => EventHeader): readonly BaseEvent[];
  /** Sees what was recorded, after it was stored and told. Never waited for, and changes nothing. */
  observe?(seen: Observed<State, Context>): void;
  /** Makes the step to record where nothing was produced. */
  emptyStep(facts: EmptyStep): StepOf<State>;
}
