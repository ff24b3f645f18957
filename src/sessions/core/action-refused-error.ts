import { SteplineError } from '../../lib/index.ts';

/** A repeated request was stored while a step was open, and could not be applied after the step ended. */
export class ActionRefusedError extends SteplineError {
  override readonly name = 'ActionRefusedError';
  readonly code = 'action-refused';
  /** Code of the error that refused it. */
  readonly reason: string | undefined;

  constructor(why: string, reason: string | undefined) {
    super(`The action was stored, but could not be applied: ${why}`);
    this.reason = reason;
  }
}
