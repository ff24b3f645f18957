// A selector: the rule by which the next turn is given.
// Owns:     nothing that changes. Where it stands in the round is read from the conversation, so that a stored one goes on rightly.
import type { EffectOptions, EffectResult } from '../../effects/index.ts';
import type { ModelOutcome, ModelRequest, Model } from '../../inference/index.ts';
import type { JsonObject, Soon } from '../../lib/index.ts';
import type { ParticipantInfo } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';

interface ChoiceBase {
  /** The rule that decided, where it was not the selector itself. */
  readonly by?: string;
  /** What was wrong with the first choice, where another rule had to decide. */
  readonly problem?: string;
}

/** Who has the next turn, and why. */
export interface Given extends ChoiceBase {
  readonly participant: string;
  readonly reason?: string;
}

/** There is nothing more to say: the conversation is completed, for this reason. */
export interface Ended extends ChoiceBase {
  readonly end: string;
}

/** Who has the next turn; or that nobody has. */
export type Choice = Given | Ended;

/** What a selector decides by. */
export interface SelectionFacts<Context = unknown, State extends TurnState = TurnState> {
  readonly state: State;
  /** In the order in which they were given. */
  readonly participants: readonly ParticipantInfo[];
  /** Who had the last turn. */
  readonly last: string | undefined;
  /** Who would be next in the round. */
  readonly next: string;
  readonly context: Context;
  readonly signal: AbortSignal;
  /** Asks a model; what that uses counts toward this turn. Never rejects. */
  readonly ask: (
    model: Model,
    request: ModelRequest,
    options?: { readonly timeoutMs?: number; readonly label?: string },
  ) => Promise<ModelOutcome>;
  /** Reports what a function of the host's threw, with its stack. */
  readonly report: (error: unknown) => void;
  /** Runs what is no pure function of the state, so that it is not done twice. */
  readonly run: <Value>(work: (signal: AbortSignal) => Value | Promise<Value>, options?: EffectOptions) => Promise<EffectResult<Value>>;
}

/** Gives the next turn. */
export interface Selector {
  /** As events and records name it. */
  readonly name: string;
  /** What it is made of, for the fingerprint of the conversation. */
  readonly configuration?: JsonObject;
  select(facts: SelectionFacts): Soon<Choice>;
}
