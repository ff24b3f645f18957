import { SteplineError } from '../../lib/index.ts';

/** A request id was used again for something else. */
export class RequestReusedError extends SteplineError {
  override readonly name = 'RequestReusedError';
  readonly code = 'request-reused';

  constructor(requestId: string) {
    super(
      `The request id "${requestId}" was already used with different content. Nothing was done. Use a new requestId for each request, and repeat one only to retry the same request.`,
    );
  }
}
