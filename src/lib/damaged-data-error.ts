import { SteplineError } from './stepline-error.ts';

/** Stored or received data has the wrong form. `path` locates the problem, the message says what was expected. */
export class DamagedDataError extends SteplineError {
  override readonly name = 'DamagedDataError';
  readonly code = 'damaged-data';
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string, cause?: unknown) {
    super(`Damaged data at ${path === '' ? 'the top level' : path}: ${problem}.`, cause);
    this.path = path;
    this.problem = problem;
  }
}
