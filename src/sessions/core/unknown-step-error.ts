import { SteplineError } from '../../lib/index.ts';

/** A fork was asked for at a step that was never recorded. */
export class UnknownStepError extends SteplineError {
  override readonly name = 'UnknownStepError';
  readonly code = 'unknown-step';

  constructor(sessionId: string, at: { readonly execution: number; readonly step: number }) {
    super(
      `Session "${sessionId}" has no recorded step ${at.step} in execution ${at.execution}. Choose a step from session.state.session.executions.`,
    );
  }
}
