import { SteplineError } from '../../lib/index.ts';

/** An answer was meant for another session. */
export class ForeignApprovalError extends SteplineError {
  override readonly name = 'ForeignApprovalError';
  readonly code = 'foreign-approval';

  constructor(waitId: string, sessions: { readonly own: string; readonly given: string }) {
    super(
      `The answer to "${waitId}" belongs to session "${sessions.given}", but was sent to session "${sessions.own}". Nothing was run. Answer in the session that asked.`,
    );
  }
}
