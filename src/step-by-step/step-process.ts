import type { ContinuationCriteria, ContinuationEvaluation, Findings, StopReason } from '../continuation/index.ts';
import type { BaseEvent, EventHeader, ProblemReporter } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { RunState } from './run-state.ts';
import type { EmptyStep } from './step.ts';
import type { StepResult } from './step-result.ts';
import type { StepScope } from './step-scope.ts';
import type { Wait } from './waiting.ts';

/** The kind of step that a kind of state is made of. */
export type StepOf<State> = State extends RunState<infer S> ? S : never;

/** A whole step, one that has to wait for somebody, or none: an evaluation forbade it before anything of it was done. */
export type ProducedStep<S> =
  | {
      readonly type: 'step';
      readonly step: S;
      /** True if nothing of it was cut off, although the run was interrupted meanwhile. @default false */
      readonly isWhole?: boolean;
    }
  | { readonly type: 'waiting'; readonly partial: S; readonly waits: readonly Wait[] }
  | { readonly type: 'forbidden' };

/** A record, as observers see it. */
export interface Observed<State, Context = unknown> {
  readonly state: State;
  readonly context: Context;
  /** Receives errors of the observer. */
  readonly onProblem: ProblemReporter;
  /** The recorded step; absent if a start was refused. */
  readonly result?: StepResult<StepOf<State>>;
  /** The reason that ended the execution; absent if it continues or waits. */
  readonly stopReason?: StopReason;
}

/** Optional phases of a process around producing a step. */
export interface StepPhases<State extends RunState, Context = unknown> {
  /** Decision-relevant work before a start is judged; an error refuses the start. */
  enter?(state: State, scope: StepScope<Context>): void | Promise<void>;
  /** Decision-relevant work on the candidate, such as a critic. Returns the step to be judged. */
  inspect?(candidate: State, scope: StepScope<Context>): StepOf<State> | Promise<StepOf<State>>;
  /** Returns further events of a step when it is recorded. */
  eventsOf?(step: StepOf<State>, next: () => EventHeader): readonly BaseEvent[];
  /** Called with each record after it was stored and emitted. Never awaited, and changes nothing. */
  observe?(seen: Observed<State, Context>): void;
}

/** The rules by which the steps of a process are judged. */
export interface StepRules<State extends RunState> {
  /** The error policy among them is also the one by which the loop waits and counts. */
  readonly criteria: ContinuationCriteria<State>;
  /** Time limit of the step that sums up after a limit. @default 30_000 */
  readonly finalizeMs?: number;
  /** Time left under rules that are not among the criteria. */
  remainingMs?(state: State, findings: Findings): number | undefined;
  /** Evaluates the time limits that are not among the criteria. Returns the one that forbids, if one does. */
  evaluateTime?(state: State, findings: Findings): ContinuationEvaluation | undefined;
  /** True if nothing was done in a failed step, so that it may be taken again in place of being recorded. @default false */
  isRepeatable?(step: StepOf<State>): boolean;
  /** True if ending now would leave something undone that the step itself does not show. Pure. */
  workLeft?(candidate: State): boolean;
}

/**
 * A kind of orchestrator for the loop: how a step is produced, and by which rules it is judged.
 * Stateless: everything it needs to continue after a pause is in the state.
 */
export interface StepProcess<State extends RunState, Context = unknown> extends StepPhases<State, Context>, StepRules<State> {
  /** Kind of orchestrator in events. */
  readonly name: string;
  /** Identity of the orchestrator; stored with each execution that it starts. */
  readonly identity?: JsonObject;
  /** Names of the tools that a step may use. @default none */
  readonly toolNames?: readonly string[];
  /** True if a step is a turn of one of several: its start is emitted when the participant is known. @default false */
  readonly takesTurns?: boolean;
  /** True if `produce` may forbid a step: its start is emitted when `produce` calls `scope.events.beginStep()`. @default false */
  readonly forbidsSteps?: boolean;
  /** Throws if a run cannot work with this context. */
  checkContext?(context: unknown): void;
  /** Takes the next step, or continues `state.pendingStep`. An error becomes a failed step. */
  produce(state: State, scope: StepScope<Context>): Promise<ProducedStep<StepOf<State>>>;
  /** Creates the step to record if nothing was produced. */
  emptyStep(facts: EmptyStep): StepOf<State>;
}
