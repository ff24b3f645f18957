import { SteplineError } from '../lib/index.ts';

/** Another attempt has taken over the execution, or the engine has ended this one. Let it reach the engine: the other attempt continues. */
export class AttemptReplacedError extends SteplineError {
  override readonly name = 'AttemptReplacedError';
  readonly code = 'attempt-replaced';

  constructor(executionId: string, cause?: unknown) {
    super(
      `This attempt at execution "${executionId}" is over: another attempt took over, or the engine ended this one. Everything recorded so far was kept. Let this error reach the engine.`,
      cause,
    );
  }
}
