import { SteplineError } from '../lib/index.ts';

/** An approval was given for arguments that have changed since. */
export class StaleApprovalError extends SteplineError {
  override readonly name = 'StaleApprovalError';
  readonly code = 'stale-approval';

  constructor(waitId: string) {
    super(
      `The approval of "${waitId}" is for arguments that are no longer the ones: they changed after they were shown. Nothing was run. Show the call again and ask again.`,
    );
  }
}
