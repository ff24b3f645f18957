import { SteplineError } from '../lib/index.ts';

/** Another attempt at the same execution records rows now, or the engine has ended this one. This one stops; the other one continues. */
export class AttemptReplacedError extends SteplineError {
  override readonly name = 'AttemptReplacedError';
  readonly code = 'attempt-replaced';

  constructor(executionId: string, cause?: unknown) {
    super(`This attempt at execution "${executionId}" is over: the engine records another one. What is recorded was kept.`, cause);
  }
}
