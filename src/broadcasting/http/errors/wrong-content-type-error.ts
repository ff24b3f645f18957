import { SteplineError } from '../../../lib/index.ts';

/** The body of a request is not declared as JSON. */
export class WrongContentTypeError extends SteplineError {
  override readonly name = 'WrongContentTypeError';
  readonly code = 'wrong-content-type';

  constructor(found: string) {
    super(`The body must be JSON with the header content-type: application/json, not ${found}.`);
  }
}
