import type { ContinuationCriteria } from '../continuation/index.ts';
import type { Capability, Pricing } from '../hooks/index.ts';
import type { Callback, Json, JsonObject } from '../lib/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
import type { ChatStep } from './chat-step.ts';
import type { ParsedWords, JoinedParticipant } from './participant.ts';
import type { NextSpeaker, Selector } from './selectors/selector.ts';
import type { TurnState } from './turn-state.ts';

/** Tools and instructions of a participant for one turn. */
export interface Equipment {
  readonly capability: Capability;
  /** Lists the changes made with it so far, oldest first. */
  changes(): readonly JsonObject[];
  /** Tools whose calls count only in a turn that completes. */
  readonly completionOnly: readonly string[];
}

/** Additions of an orchestrator to the turns. */
export interface TurnExtension<State extends TurnState<S>, S extends ChatStep> {
  /** Parses the words of somebody who is not a model. */
  parse(said: unknown, at: { readonly state: State; readonly participant: string; readonly shown: Json | undefined }): ParsedWords;
  /** Names who has the turn whatever the selector says. */
  claim?(state: State): (NextSpeaker & { readonly by: string }) | undefined;
  /** Equips a participant for this turn. */
  equip?(state: State, participant: string): Equipment;
  /** Returns what a person is shown to decide about; stored with the question, and given back when the answer is parsed. */
  shown?(state: State): Json;
  /** Returns the prompt for a person who has none. */
  hint?(state: State, participant: string): string | undefined;
  /** Decision-relevant work on a turn before it is judged. */
  readonly inspect?: Callback<[candidate: State, scope: StepScope], S | Promise<S>>;
  /** Returns the turn with the changes made since it was last worked on. */
  withChanges?(step: ChatStep, changes: readonly JsonObject[], at: { readonly state: State; readonly scope: StepScope }): S;
}

/** Parts of the turns of one orchestrator. */
export interface TurnSetup<State extends TurnState<S>, S extends ChatStep> {
  /** Kind of orchestrator in events. */
  readonly name: string;
  readonly joined: readonly JoinedParticipant[];
  readonly selector: Selector;
  readonly criteria: ContinuationCriteria<State>;
  readonly pricing: Pricing;
  readonly extension: TurnExtension<State, S>;
  readonly identity: JsonObject;
  /** True if ending now would leave something undone. */
  readonly workLeft: (state: State) => boolean;
}

/** The turn that is being taken. */
export interface OpenTurn {
  readonly setup: TurnSetup<TurnState, ChatStep>;
  readonly state: TurnState;
  readonly scope: StepScope;
}
