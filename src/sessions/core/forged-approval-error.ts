import { SteplineError } from '../../lib/index.ts';

/** An approval has a digest that was never given out. */
export class ForgedApprovalError extends SteplineError {
  override readonly name = 'ForgedApprovalError';
  readonly code = 'forged-approval';

  constructor(waitId: string) {
    super(
      `The digest for "${waitId}" does not match any arguments that this session asked about. Nothing was run. Pass the wait from session.waitingFor unchanged.`,
    );
  }
}
