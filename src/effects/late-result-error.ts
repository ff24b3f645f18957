import { SteplineError } from '../lib/index.ts';

/** Work ended after its run had continued without it; what it returned was dropped. */
export class LateResultError extends SteplineError {
  override readonly name = 'LateResultError';
  readonly code = 'late-result';
  readonly key: string;

  constructor(key: string) {
    super(`"${key}" finished after it was interrupted. Its result was dropped. Pass the AbortSignal on, so that the work stops in time.`);
    this.key = key;
  }
}
