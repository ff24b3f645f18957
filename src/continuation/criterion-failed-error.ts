import { SteplineError } from '../lib/index.ts';

/** A criterion threw, or answered with something that is no answer. The run ends with `error`; the produced step is kept. */
export class CriterionFailedError extends SteplineError {
  override readonly name = 'CriterionFailedError';
  readonly code = 'criterion-failed';
  readonly criterion: string;

  constructor(criterion: string, problem: string, cause?: unknown) {
    super(`Criterion "${criterion}" failed: ${problem}`, cause);
    this.criterion = criterion;
  }
}
