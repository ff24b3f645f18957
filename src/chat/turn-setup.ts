import type { ContinuationCriteria } from '../continuation/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import type { Capability, Pricing } from '../hooks/index.ts';
import type { Callback, Json, JsonObject } from '../lib/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
import type { ChatStep } from './chat-step.ts';
import type { Reading, Seat } from './participant.ts';
import type { Given, Selector } from './selectors/selector.ts';
import type { TurnState } from './turn-state.ts';

/** What a participant has in its hands in one turn. */
export interface Equipment {
  readonly capability: Capability;
  /** What was done with it until now, in the order in which it was done. */
  acts(): readonly JsonObject[];
  /** Tools whose calls count only in a turn that comes to its end: in one that does not they were not made. */
  readonly uncounted: readonly string[];
}

/** What an orchestrator adds to the turns. */
export interface TurnExtension<State extends TurnState<S>, S extends ChatStep> {
  /** Reads what somebody said who is no model. */
  read(said: unknown, at: { readonly state: State; readonly participant: string; readonly shown: Json | undefined }): Reading;
  /** Who has the turn whatever the selector says. */
  claim?(state: State): (Given & { readonly by: string }) | undefined;
  /** What a participant has in its hands in this turn. */
  equip?(state: State, participant: string): Equipment;
  /** What a person is shown of what may be decided: it is kept with the question, and given back when the answer is read. */
  shown?(state: State): Json;
  /** What a person is told who is asked for words without a prompt. */
  hint?(state: State, participant: string): string | undefined;
  /** Decision-relevant work on a turn before it is judged. */
  readonly inspect?: Callback<[candidate: State, scope: StepScope], S | Promise<S>>;
  /** The turn with what was done in it beside the words, since it was last worked on. */
  withActs?(step: ChatStep, acts: readonly JsonObject[], at: { readonly state: State; readonly scope: StepScope }): S;
}

/** What the turns of one orchestrator are made from. */
export interface TurnSetup<State extends TurnState<S>, S extends ChatStep> {
  /** The kind of orchestrator, as events name it. */
  readonly name: string;
  readonly seats: readonly Seat[];
  readonly selector: Selector;
  readonly criteria: ContinuationCriteria<State>;
  readonly pricing: Pricing;
  readonly extension: TurnExtension<State, S>;
  readonly identity: JsonObject;
  /** Whether ending now would leave something undone. */
  readonly workLeft: (state: State) => boolean;
  /** Hears what functions of the host's threw, with its stack. */
  readonly onProblem: ProblemReporter;
}

/** What a turn is taken with. */
export interface Surroundings {
  readonly setup: TurnSetup<TurnState, ChatStep>;
  readonly state: TurnState;
  readonly scope: StepScope;
}
