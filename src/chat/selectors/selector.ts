// A selector: the rule by which the next turn is given.
// Owns:     no state. Its place in the round is read from the conversation, so that a stored one resumes correctly.
import type { EffectOptions, EffectResult } from '../../effects/index.ts';
import type { ModelOutcome, ModelRequest, Model } from '../../inference/index.ts';
import type { JsonObject, Soon } from '../../lib/index.ts';
import type { ParticipantInfo } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';

interface ChoiceBase {
  /** Name of the rule that decided, if it was not the selector itself. */
  readonly by?: string;
  /** Problem with the first choice, if another rule had to decide. */
  readonly problem?: string;
}

/** The participant who has the next turn, and the reason. */
export interface NextSpeaker extends ChoiceBase {
  readonly participant: string;
  readonly reason?: string;
}

/** Completes the conversation, for this reason. */
export interface ConversationEnd extends ChoiceBase {
  readonly end: string;
}

/** Choice of a selector. */
export type Choice = NextSpeaker | ConversationEnd;

/** Facts and services for a selector. */
export interface SelectionFacts<Context = unknown, State extends TurnState = TurnState> {
  readonly state: State;
  /** In the order in which they were given. */
  readonly participants: readonly ParticipantInfo[];
  /** Participant who had the last turn. */
  readonly last: string | undefined;
  /** Participant who is next in the round. */
  readonly next: string;
  readonly context: Context;
  readonly signal: AbortSignal;
  /** Asks a model; its usage counts toward this turn. Never rejects. */
  readonly ask: (
    model: Model,
    request: ModelRequest,
    options?: { readonly timeoutMs?: number; readonly label?: string },
  ) => Promise<ModelOutcome>;
  /** Reports an error of a host's function, with its stack. */
  readonly report: (error: unknown) => void;
  /** Runs work that is not a pure function of the state, so that it is not done twice. */
  readonly run: <Value>(work: (signal: AbortSignal) => Value | Promise<Value>, options?: EffectOptions) => Promise<EffectResult<Value>>;
}

/** Selects the next participant. */
export interface Selector {
  /** Name in events and records. */
  readonly name: string;
  /** Its part of the conversation's fingerprint. */
  readonly configuration?: JsonObject;
  select(facts: SelectionFacts): Soon<Choice>;
}
