import { SteplineError } from '../lib/index.ts';

/** A request is repeated that was stored while a step was open, and could not be used when that had ended. */
export class ActionRefusedError extends SteplineError {
  override readonly name = 'ActionRefusedError';
  readonly code = 'action-refused';
  /** The code of what was wrong with it. */
  readonly reason: string | undefined;

  constructor(why: string, reason: string | undefined) {
    super(`The request was refused when it came to be used: ${why}`);
    this.reason = reason;
  }
}
