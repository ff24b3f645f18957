import { SteplineError } from '../lib/index.ts';

/** The data is whole, but of another kind than expected. */
export class WrongKindError extends SteplineError {
  override readonly name = 'WrongKindError';
  readonly code = 'wrong-kind';
  readonly expected: string;
  readonly found: string;

  /** `advice` is a sentence that says how to read what was found. */
  constructor(expected: string, found: string, advice?: string) {
    super(`Expected data of kind "${expected}", found kind "${found}".${advice === undefined ? '' : ` ${advice}`}`);
    this.expected = expected;
    this.found = found;
  }
}
