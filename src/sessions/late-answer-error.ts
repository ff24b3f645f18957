import { SteplineError } from '../lib/index.ts';

/** An answer came for a wait that was already answered or closed. */
export class LateAnswerError extends SteplineError {
  override readonly name = 'LateAnswerError';
  readonly code = 'late-answer';
  readonly waitId: string;

  constructor(waitId: string, how: string) {
    super(`"${waitId}" is not waited for any more: ${how}. The answer was not used.`);
    this.waitId = waitId;
  }
}
