import { SteplineError } from '../../lib/index.ts';

/** Statuses of answers that may be others later. */
const passing: readonly (number | undefined)[] = [undefined, 429, 502, 503, 504];

/** A Restate server cannot be reached, or has refused a request. */
export class IngressError extends SteplineError {
  override readonly name = 'IngressError';
  readonly code = 'ingress-failed';
  /** Status of the answer; undefined if there was none. */
  readonly status: number | undefined;

  constructor(path: string, { status, problem }: { readonly status?: number; readonly problem: string }, cause?: unknown) {
    const what = status === undefined ? 'cannot be reached' : `answered with status ${status}`;
    super(`The Restate server ${what} when it was asked for ${path}: ${problem}`, cause);
    this.status = status;
  }

  /** True if the same request may succeed later. */
  get isPassing(): boolean {
    return passing.includes(this.status);
  }
}
