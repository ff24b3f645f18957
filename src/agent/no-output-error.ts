import { SteplineError } from '../lib/index.ts';

/** A state ended without an answer that fits this agent's output schema; an agent with another schema must have run it. */
export class NoOutputError extends SteplineError {
  override readonly name = 'NoOutputError';
  readonly code = 'no-output';

  constructor(problem: string) {
    super(`The state has ended, but without an answer that fits the output schema of this agent: ${problem}`);
  }
}
