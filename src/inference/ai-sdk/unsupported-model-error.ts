import { SteplineError } from '../../lib/index.ts';

/** The value passed as a model is not an AI SDK model of a supported version. */
export class UnsupportedModelError extends SteplineError {
  override readonly name = 'UnsupportedModelError';
  readonly code = 'unsupported-model';

  constructor(problem: string) {
    super(`aiSdk() cannot use this model: ${problem}.`);
  }
}
