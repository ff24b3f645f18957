import { SteplineError } from '../../lib/index.ts';

/** A fork was asked for at a step that was never recorded, or before an execution that never began. */
export class UnknownStepError extends SteplineError {
  override readonly name = 'UnknownStepError';
  readonly code = 'unknown-step';

  constructor(sessionId: string, at: { readonly execution: number; readonly step: number }) {
    const missing =
      at.step === 0
        ? `has no execution ${at.execution} that a message began`
        : `has no recorded step ${at.step} in execution ${at.execution}`;
    super(`Session "${sessionId}" ${missing}. Choose ${at.step === 0 ? 'one' : 'a step'} from session.state.session.executions.`);
  }
}
