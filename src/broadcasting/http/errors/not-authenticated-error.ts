import { SteplineError } from '../../../lib/index.ts';

/** A request does not say who makes it. */
export class NotAuthenticatedError extends SteplineError {
  override readonly name = 'NotAuthenticatedError';
  readonly code = 'not-authenticated';

  constructor(reason = 'Log in, and try again.') {
    super(reason);
  }
}
