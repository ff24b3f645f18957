import { SteplineError } from '../lib/index.ts';
import { getEndFailure, redactFailure } from '../step-by-step/index.ts';
import type { TurnState } from './turn-state.ts';

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
