import { SteplineError } from '../../lib/index.ts';

/** Another worker owns the session, or has owned it since: nothing more is written from here. */
export class LeaseLostError extends SteplineError {
  override readonly name = 'LeaseLostError';
  readonly code = 'lease-lost';
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`Session "${sessionId}" belongs to another worker now. Nothing was written. Read the session again; the other worker runs it.`);
    this.sessionId = sessionId;
  }
}
