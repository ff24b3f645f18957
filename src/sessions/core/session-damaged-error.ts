import { SteplineError } from '../../lib/index.ts';

/** The stored data of a session cannot be trusted. It is set aside; other sessions are not affected. */
export class SessionDamagedError extends SteplineError {
  override readonly name = 'SessionDamagedError';
  readonly code = 'session-damaged';
  readonly sessionId: string;
  /** Description of the damage and its place. */
  readonly damage: string;

  constructor(sessionId: string, damage: string, cause?: unknown) {
    super(
      `Session "${sessionId}" is damaged: ${damage}. It was quarantined and left unchanged. Restore it from a backup, or continue in a new session.`,
      cause,
    );
    this.sessionId = sessionId;
    this.damage = damage;
  }
}
