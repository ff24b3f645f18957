import type { EffectFailure } from '../effects/index.ts';
import { ClassifiedError, ErrorType } from '../errors/index.ts';
import { SteplineError } from '../lib/index.ts';
import { getEndFailure, redactFailure } from '../step-by-step/index.ts';
import type { TurnState } from './turn-state.ts';

const kindNames: Readonly<Record<string, string>> = {
  llm: 'a model',
  agent: 'an agent',
  human: 'a person',
  scripted: 'a script',
  function: 'a function',
};

/** A turn waited, and its participant is gone or is now of another kind. */
export class ParticipantChangedError extends ClassifiedError {
  override readonly name = 'ParticipantChangedError';
  readonly code = 'participant-changed';
  readonly type: ErrorType = ErrorType.Unknown;

  constructor(participant: string, { was, is }: { readonly was: string | undefined; readonly is: string | undefined }) {
    const before = was === undefined ? '' : ` as ${kindNames[was] ?? was}`;
    const now = is === undefined ? 'there is no such participant any more' : `${participant} is ${kindNames[is] ?? is} now`;
    super(`The turn of ${participant} was begun${before}, and ${now}. Put it back, or send a message to go on.`, { retryable: false });
  }
}

/** A limit of a participant's own ended its turn before it had said anything. */
export class TurnIncompleteError extends ClassifiedError {
  override readonly name = 'TurnIncompleteError';
  readonly code = 'turn-incomplete';
  readonly type: ErrorType = ErrorType.Model;

  constructor(message: string) {
    // The same limit would end the next attempt as well.
    super(message, { retryable: false });
  }
}

/** A selector named nobody who could have the turn. */
export class TurnNotGivenError extends ClassifiedError {
  override readonly name = 'TurnNotGivenError';
  readonly code = 'turn-not-given';
  readonly type: ErrorType;

  constructor(message: string, failure?: EffectFailure) {
    super(message, { retryable: failure?.retryable ?? true });
    this.type = failure?.type ?? ErrorType.Unknown;
  }
}

/** A conversation with `throwOnFailure` failed. Nothing is lost: `state` has everything. */
export class ConversationFailedError extends SteplineError {
  override readonly name = 'ConversationFailedError';
  readonly code = 'conversation-failed';
  readonly state: TurnState;

  constructor(state: TurnState) {
    const who = state.participant === undefined ? '' : ` in the turn of ${state.participant}`;
    super(`The conversation failed${who}: ${redactFailure(getEndFailure(state)).message}`);
    this.state = state;
  }
}
