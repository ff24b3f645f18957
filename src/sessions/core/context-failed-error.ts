import { SteplineError } from '../../lib/index.ts';

/** The host's function that returns the context of a run failed. */
export class ContextFailedError extends SteplineError {
  override readonly name = 'ContextFailedError';
  readonly code = 'context-failed';

  constructor(sessionId: string, cause: unknown) {
    const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
    super(`context() failed for session "${sessionId}": ${why}. Nothing was run. Fix the function, then resume the session.`, cause);
  }
}
