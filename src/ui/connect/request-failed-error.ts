import { SteplineError } from '../../lib/index.ts';

/** A server refused a request of a page, or could not be reached. */
export class RequestFailedError extends SteplineError {
  override readonly name = 'RequestFailedError';
  readonly code = 'request-failed';
  /** Status of the response; 0 if there was none. */
  readonly status: number;
  /** Code of the error in the response, such as `stale-approval`. */
  readonly serverCode: string;

  constructor(
    message: string,
    { status, serverCode, cause }: { readonly status: number; readonly serverCode: string; readonly cause?: unknown },
  ) {
    super(message, cause);
    this.status = status;
    this.serverCode = serverCode;
  }
}
