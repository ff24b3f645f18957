import { SteplineError } from '../lib/index.ts';

/** The same wait was answered a second time. The first answer stands. */
export class AlreadyAnsweredError extends SteplineError {
  override readonly name = 'AlreadyAnsweredError';
  readonly code = 'already-answered';
  readonly waitId: string;

  constructor(waitId: string) {
    super(`"${waitId}" was answered already; the first answer stands. Run the state to go on.`);
    this.waitId = waitId;
  }
}
