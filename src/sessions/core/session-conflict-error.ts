import { SteplineError } from '../../lib/index.ts';

/** A write did not follow the last entry of its session's log. */
export class SessionConflictError extends SteplineError {
  override readonly name = 'SessionConflictError';
  readonly code = 'session-conflict';

  constructor(sessionId: string, heads: { readonly expected: number; readonly found: number }) {
    super(
      heads.expected === 0
        ? `Session "${sessionId}" already exists. Nothing was written. Use another id, or the existing session.`
        : `Session "${sessionId}" has changed: its log ends with entry ${heads.found}, but the write expected entry ${heads.expected}. Nothing was written. Reload the session and try again.`,
    );
  }
}
