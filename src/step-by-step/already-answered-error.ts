import { SteplineError } from '../lib/index.ts';

/** The same wait was answered a second time. The first answer is kept. */
export class AlreadyAnsweredError extends SteplineError {
  override readonly name = 'AlreadyAnsweredError';
  readonly code = 'already-answered';
  readonly waitId: string;

  constructor(waitId: string) {
    super(`"${waitId}" was already answered. The first answer counts. Run the state to continue.`);
    this.waitId = waitId;
  }
}
