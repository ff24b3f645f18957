import { SteplineError } from './stepline-error.ts';

/** A caller passed something that cannot work; the message says what and what to pass instead. */
export class InvalidArgumentError extends SteplineError {
  override readonly name = 'InvalidArgumentError';
  readonly code = 'invalid-argument';
}
