import { SteplineError } from '../../../lib/index.ts';

/** The body of a request is larger than the handler reads. */
export class BodyTooLargeError extends SteplineError {
  override readonly name = 'BodyTooLargeError';
  readonly code = 'body-too-large';

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes. Send less, or raise the handler's maxBodyBytes.`);
  }
}
