import { SteplineError } from '../lib/index.ts';

/** A criterion threw, or its answer could not be used. The run ends with `error`; the produced step is kept. */
export class CriterionFailedError extends SteplineError {
  override readonly name = 'CriterionFailedError';
  readonly code = 'criterion-failed';
  /** Name of the criterion, as its collection lists it. */
  readonly criterion: string;
  readonly problem: string;

  constructor(criterion: string, problem: string, cause?: unknown) {
    super(`Criterion "${criterion}" failed: ${problem}`, cause);
    this.criterion = criterion;
    this.problem = problem;
  }
}
