import { SteplineError } from '../../lib/index.ts';

/** A server of the Pusher protocol did not take events, or could not be reached. */
export class PublishFailedError extends SteplineError {
  override readonly name = 'PublishFailedError';
  readonly code = 'publish-failed';
  /** Status of the answer; 0 if there was none. */
  readonly status: number;

  constructor(message: string, status: number, cause?: unknown) {
    super(message, cause);
    this.status = status;
  }
}
