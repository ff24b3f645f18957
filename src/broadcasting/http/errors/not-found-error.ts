import { SteplineError } from '../../../lib/index.ts';

/** A request asks for an address or a part of a session that does not exist. */
export class NotFoundError extends SteplineError {
  override readonly name = 'NotFoundError';
  readonly code = 'not-found';

  constructor(what: string) {
    super(`There is no ${what}. Check the address.`);
  }
}
