import { SteplineError } from '../../../lib/index.ts';

/** A receiver did not accept a webhook. It is sent again. */
export class WebhookFailedError extends SteplineError {
  override readonly name = 'WebhookFailedError';
  readonly code = 'webhook-failed';
  /** Status of the answer; absent if there was none. */
  readonly status?: number;
  /** Pause that the receiver asked for. */
  readonly retryAfterMs?: number;

  /** `place`: origin of the receiver. */
  constructor(place: string, problem: { readonly status: number; readonly retryAfterMs?: number } | string, cause?: unknown) {
    const what = typeof problem === 'string' ? `could not be reached: ${problem}` : `answered with status ${problem.status}`;
    super(`The webhook receiver ${place} ${what}. The events are sent again.`, cause);
    if (typeof problem === 'string') return;
    this.status = problem.status;
    if (problem.retryAfterMs !== undefined) this.retryAfterMs = problem.retryAfterMs;
  }
}
