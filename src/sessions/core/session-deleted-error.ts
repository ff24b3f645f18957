import { SteplineError } from '../../lib/index.ts';

/** The session was deleted. Its id is not used again. */
export class SessionDeletedError extends SteplineError {
  override readonly name = 'SessionDeletedError';
  readonly code = 'session-deleted';
  readonly sessionId: string;
  readonly deletedAt: number;

  constructor(sessionId: string, deletedAt: number) {
    super(
      `Session "${sessionId}" was deleted at ${new Date(deletedAt).toISOString()}. Create a new session with another id; deleted ids cannot be reused.`,
    );
    this.sessionId = sessionId;
    this.deletedAt = deletedAt;
  }
}
