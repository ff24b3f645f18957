import { SteplineError } from '../../lib/index.ts';

/** Something that is no AI SDK model of a version we know was passed as a model. */
export class UnsupportedModelError extends SteplineError {
  override readonly name = 'UnsupportedModelError';
  readonly code = 'unsupported-model';

  constructor(problem: string) {
    super(`This model cannot be used: ${problem}.`);
  }
}
