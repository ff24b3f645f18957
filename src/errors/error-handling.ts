import type { ExceededBound } from './backoff.ts';
import type { ErrorContext } from './error-context.ts';
import { ErrorHandlingDecision } from './error-handling-decision.ts';

/** Reason for a policy's decision. */
export type HandlingCause = 'no-error' | 'policy' | 'retries-used-up' | 'wait-too-long' | 'not-retryable' | 'nothing-to-read';

/** A policy's decision about a step, with the failure that decided it. */
export interface ErrorHandling {
  readonly decision: ErrorHandlingDecision;
  readonly cause: HandlingCause;
  readonly context: ErrorContext;
  /** The number of attempts that applied to this failure. */
  readonly maxRetries: number;
  /** The span that failures in a row must have before they end the run. Absent if only their number counts. */
  readonly minRetrySpanMs?: number;
  /** The bound that the provider's wait exceeds, if that is the cause. */
  readonly exceeded?: ExceededBound;
}

const weight = { [ErrorHandlingDecision.Stop]: 2, [ErrorHandlingDecision.Retry]: 1, [ErrorHandlingDecision.Ignore]: 0 } as const;

/** Of several failures in one step the gravest decides: stop, then retry, then ignore; among equals the first. */
export const pickGraver = (left: ErrorHandling, right: ErrorHandling): ErrorHandling =>
  weight[right.decision] > weight[left.decision] ? right : left;
