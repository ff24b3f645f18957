import { SteplineError } from '../lib/index.ts';

/** A write did not follow the last entry of its session's log. */
export class SessionConflictError extends SteplineError {
  override readonly name = 'SessionConflictError';
  readonly code = 'session-conflict';

  constructor(sessionId: string, heads: { readonly expected: number; readonly found: number }) {
    const why =
      heads.expected === 0 ? 'it exists already' : `its log ends with entry ${heads.found}, and the write follows entry ${heads.expected}`;
    super(`Session "${sessionId}" was not written: ${why}. Read it again and repeat what you wanted to do.`);
  }
}
