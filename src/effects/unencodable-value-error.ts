import { SteplineError } from '../lib/index.ts';

/** A value cannot be stored as JSON, so the call that returned it fails. */
export class UnencodableValueError extends SteplineError {
  override readonly name = 'UnencodableValueError';
  readonly code = 'unencodable-value';
  readonly path: string;

  constructor(path: string, problem: string, { isTooLarge = false }: { readonly isTooLarge?: boolean } = {}) {
    const advice = isTooLarge ? 'Return less.' : 'Return plain JSON data.';
    super(`The returned value cannot be stored: ${path === '' ? 'it' : path} ${problem}. ${advice}`);
    this.path = path;
  }
}
