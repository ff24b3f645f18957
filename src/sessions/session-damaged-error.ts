import { SteplineError } from '../lib/index.ts';

/** What is stored of a session cannot be trusted. It is set aside; other sessions are not touched by it. */
export class SessionDamagedError extends SteplineError {
  override readonly name = 'SessionDamagedError';
  readonly code = 'session-damaged';
  readonly sessionId: string;
  /** What is wrong, and where. */
  readonly damage: string;

  constructor(sessionId: string, damage: string, cause?: unknown) {
    super(
      `Session "${sessionId}" cannot be read: ${damage}. It was set aside and nothing of it was changed; restore it from a backup, or go on in a new session.`,
      cause,
    );
    this.sessionId = sessionId;
    this.damage = damage;
  }
}
