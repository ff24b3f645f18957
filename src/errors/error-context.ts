import type { ErrorType } from './error-type.ts';

/** Facts about one failure of the current step, for a policy. */
export interface ErrorContext {
  readonly type: ErrorType;
  /** Trailing run of failed steps that were handled by retry, the current one included. 0 means no failure. */
  readonly consecutiveFailures: number;
  /** Time from the first of the failures in a row to this one. Absent if it is not known. */
  readonly failureSpanMs?: number;
  /** Failed steps of this execution. */
  readonly totalFailures: number;
  readonly message?: string;
  readonly code?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** @default true */
  readonly retryable?: boolean;
  /** True if the model gets a result that describes the failure. @default true */
  readonly readable?: boolean;
  /** Wait that the provider asked for. */
  readonly retryAfterMs?: number;
  /** Time left under the wall limit, if there is one. */
  readonly remainingMs?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const none: ErrorContext = Object.freeze({ type: 'unknown', consecutiveFailures: 0, totalFailures: 0 });

export const ErrorContext = {
  /** The context of a step without failures. */
  none: (): ErrorContext => none,
} as const;

/** Reads the failures of a state's current step: one context per failure, or `ErrorContext.none()`. */
export interface CanResolveErrorContext<State> {
  /** `remainingMs` is the time left under the wall limit, `now` the time of judging, if they are known. */
  resolve(
    state: State,
    findings?: { readonly remainingMs?: number | undefined; readonly now?: number | undefined },
  ): ErrorContext | readonly ErrorContext[];
}
