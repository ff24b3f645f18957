import { SteplineError } from '../../lib/index.ts';

/** Statuses after which a retry may succeed. */
const retryable: readonly (number | undefined)[] = [undefined, 429, 502, 503, 504];

/** The Restate server cannot be reached, or has refused a request. */
export class IngressError extends SteplineError {
  override readonly name = 'IngressError';
  readonly code = 'ingress-failed';
  /** HTTP status of the response; undefined if there was none. */
  readonly status: number | undefined;

  constructor(path: string, { status, problem }: { readonly status?: number; readonly problem: string }, cause?: unknown) {
    super(
      status === undefined
        ? `Cannot reach the Restate server to call ${path}: ${problem}. Check ingress.url.`
        : `The Restate server answered the call to ${path} with status ${status}: ${problem}`,
      cause,
    );
    this.status = status;
  }

  /** True if the same request may succeed later. */
  get isRetryable(): boolean {
    return retryable.includes(this.status);
  }
}
