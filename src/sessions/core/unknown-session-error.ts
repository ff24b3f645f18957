import { quoteText, SteplineError } from '../../lib/index.ts';

/** There is no such session. */
export class UnknownSessionError extends SteplineError {
  override readonly name = 'UnknownSessionError';
  readonly code = 'unknown-session';

  constructor(sessionId: string) {
    super(`There is no session ${quoteText(sessionId)} in this store. Check the id, or create the session with create().`);
  }
}
