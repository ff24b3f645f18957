import { SteplineError } from '../../lib/index.ts';

/** An answer came for a wait that was already answered or closed. */
export class LateAnswerError extends SteplineError {
  override readonly name = 'LateAnswerError';
  readonly code = 'late-answer';
  readonly waitId: string;

  constructor(waitId: string, how: string) {
    super(`"${waitId}" is no longer waiting: ${how}. This answer was not used. Reload the session to see its current state.`);
    this.waitId = waitId;
  }
}
