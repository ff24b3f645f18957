import { SteplineError } from '../lib/index.ts';
import type { ExitCode } from './exit-code.ts';

/** A command of the command line tool could not do what it was asked for. */
export class CommandFailedError extends SteplineError {
  override readonly name = 'CommandFailedError';
  readonly code = 'command-failed';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}
