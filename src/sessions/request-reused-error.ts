import { SteplineError } from '../lib/index.ts';

/** A request id was used again for something else. */
export class RequestReusedError extends SteplineError {
  override readonly name = 'RequestReusedError';
  readonly code = 'request-reused';

  constructor(requestId: string) {
    super(
      `The request id "${requestId}" was used for something else in this session. Nothing was done. Give each request its own id; repeat one only with the same content.`,
    );
  }
}
