import { SteplineError } from '../../../lib/index.ts';

/** The caller may see a session, but not do this. */
export class NotAllowedError extends SteplineError {
  override readonly name = 'NotAllowedError';
  readonly code = 'not-allowed';

  constructor(action: string, reason?: string) {
    super(reason ?? `You may not do this (${action}).`);
  }
}
