import { SteplineError } from '../../../lib/index.ts';

/** An address does not take this method. */
export class MethodNotAllowedError extends SteplineError {
  override readonly name = 'MethodNotAllowedError';
  readonly code = 'method-not-allowed';
  readonly allowed: readonly string[];

  constructor(method: string, allowed: readonly string[]) {
    super(`This address does not take ${method}. Use ${allowed.join(' or ')}.`);
    this.allowed = allowed;
  }
}
