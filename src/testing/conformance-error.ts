import { SteplineError } from '../lib/index.ts';

/** An adapter broke a promise of its port. */
export class ConformanceError extends SteplineError {
  override readonly name = 'ConformanceError';
  readonly code = 'conformance-failed';
}
