import { SteplineError } from '../lib/index.ts';

/** An approval carries a digest that was never given out. */
export class ForgedApprovalError extends SteplineError {
  override readonly name = 'ForgedApprovalError';
  readonly code = 'forged-approval';

  constructor(waitId: string) {
    super(
      `The digest given for "${waitId}" belongs to no arguments that this session has ever asked about. Nothing was run. Take the digest from the wait that was shown.`,
    );
  }
}
