import { SteplineError } from '../lib/index.ts';

/** Work ended after its run had gone on without it; what it returned was dropped. */
export class LateResultError extends SteplineError {
  override readonly name = 'LateResultError';
  readonly code = 'late-result';
  readonly key: string;

  constructor(key: string) {
    super(`"${key}" ended after it had been interrupted; its result was dropped. Let the work honour its AbortSignal.`);
    this.key = key;
  }
}
