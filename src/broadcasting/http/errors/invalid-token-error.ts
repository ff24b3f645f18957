import { SteplineError } from '../../../lib/index.ts';

/** A channel token is forged, expired, or was issued for another session or audience. */
export class InvalidTokenError extends SteplineError {
  override readonly name = 'InvalidTokenError';
  readonly code = 'invalid-token';

  constructor(problem: string) {
    super(`The token ${problem}. Ask for a new one.`);
  }
}
