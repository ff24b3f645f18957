import { SteplineError } from '../../lib/index.ts';

/** Actions of other processes wait for the session, and come first. */
export class MailWaitingError extends SteplineError {
  override readonly name = 'MailWaitingError';
  readonly code = 'mail-waiting';

  constructor(sessionId: string) {
    super(`Actions wait for session "${sessionId}" and come first. Nothing was written. Apply them, then write again.`);
  }
}
