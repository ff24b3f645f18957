import { SteplineError } from '../../lib/index.ts';

/** An approval was given for arguments that have changed since. */
export class StaleApprovalError extends SteplineError {
  override readonly name = 'StaleApprovalError';
  readonly code = 'stale-approval';

  constructor(waitId: string) {
    super(
      `The arguments of "${waitId}" changed after they were shown for approval. Nothing was run. Show the call again and ask for a new approval.`,
    );
  }
}
