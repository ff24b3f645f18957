import { SteplineError } from '../../../lib/index.ts';

/** The body of a request is larger than the handler reads. */
export class BodyTooLargeError extends SteplineError {
  override readonly name = 'BodyTooLargeError';
  readonly code = 'body-too-large';

  /** `problem` is a sentence about its size. */
  constructor(problem: string) {
    super(`${problem} Send less, or raise the handler's maxBodyBytes.`);
  }
}
