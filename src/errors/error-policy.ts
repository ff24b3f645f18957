import { checkKeys, describeValue, InvalidArgumentError } from '../lib/index.ts';
import type { Backoff } from './backoff.ts';
import { backoffMs, createBackoff, drawWaitMs, findExceededBound, needsWait } from './backoff.ts';
import { ErrorContext } from './error-context.ts';
import type { ErrorHandling } from './error-handling.ts';
import { pickGraver } from './error-handling.ts';
import { ErrorHandlingDecision } from './error-handling-decision.ts';
import type { ErrorType } from './error-type.ts';

const { Stop, Retry, Ignore } = ErrorHandlingDecision;

/** Rule for the failures of one tool, in place of the general rule. */
export interface ToolErrorRule {
  readonly handling?: ErrorHandlingDecision;
  readonly maxRetries?: number;
}

/** Settings of a policy. */
export interface ErrorPolicyOptions {
  /** @default 'stop', as for the other kinds */
  readonly onToolError?: ErrorHandlingDecision;
  readonly onModelError?: ErrorHandlingDecision;
  readonly onValidationError?: ErrorHandlingDecision;
  readonly onRateLimitError?: ErrorHandlingDecision;
  readonly onTimeoutError?: ErrorHandlingDecision;
  readonly onUnknownError?: ErrorHandlingDecision;
  /** Attempts until a failure that is retried ends the run. @default 0 */
  readonly maxRetries?: number;
  /**
   * Time that failures in a row must span before they end the run, however many there are. Holds for failures that are waited for (rate
   * limits, time-outs and failures of a model), not for those of tools. @default 0
   */
  readonly minRetrySpanMs?: number;
  /** Rules for the failures of single tools. @default {} */
  readonly tools?: Readonly<Record<string, ToolErrorRule>>;
  readonly backoff?: Partial<Backoff>;
}

function parseRetries(maxRetries = 0): number {
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new InvalidArgumentError(`maxRetries must be a whole number of 0 or more, not ${describeValue(maxRetries)}.`);
  }
  return maxRetries;
}

function parseSpan(minRetrySpanMs = 0): number {
  if (!Number.isFinite(minRetrySpanMs) || minRetrySpanMs < 0) {
    throw new InvalidArgumentError(`minRetrySpanMs must be a number of 0 or more, not ${describeValue(minRetrySpanMs)}.`);
  }
  return minRetrySpanMs;
}

function parseHandling(decision: ErrorHandlingDecision = Stop): ErrorHandlingDecision {
  const known: readonly string[] = Object.values(ErrorHandlingDecision);
  if (known.includes(decision)) return decision;
  throw new InvalidArgumentError(`Unknown error handling ${describeValue(decision)}. Use "stop", "retry" or "ignore".`);
}

const optionFor = {
  tool: 'onToolError',
  model: 'onModelError',
  validation: 'onValidationError',
  rate_limit: 'onRateLimitError',
  timeout: 'onTimeoutError',
  unknown: 'onUnknownError',
} as const satisfies Record<ErrorType, string>;

/**
 * Rules for each kind of failure. Immutable: every `with…` returns a new policy.
 * `maxRetries` counts attempts: with 3, failures one and two are retried and the third ends the run. With `minRetrySpanMs`, failures
 * that are waited for end the run only if they span that long too.
 */
export class ErrorPolicy implements Required<ErrorPolicyOptions> {
  readonly onToolError: ErrorHandlingDecision;
  readonly onModelError: ErrorHandlingDecision;
  readonly onValidationError: ErrorHandlingDecision;
  readonly onRateLimitError: ErrorHandlingDecision;
  readonly onTimeoutError: ErrorHandlingDecision;
  readonly onUnknownError: ErrorHandlingDecision;
  readonly maxRetries: number;
  readonly minRetrySpanMs: number;
  readonly tools: Readonly<Record<string, ToolErrorRule>>;
  readonly backoff: Backoff;

  constructor(options: ErrorPolicyOptions = {}) {
    checkKeys('new ErrorPolicy()', options, [...Object.values(optionFor), 'maxRetries', 'minRetrySpanMs', 'tools', 'backoff']);
    this.onToolError = parseHandling(options.onToolError);
    this.onModelError = parseHandling(options.onModelError);
    this.onValidationError = parseHandling(options.onValidationError);
    this.onRateLimitError = parseHandling(options.onRateLimitError);
    this.onTimeoutError = parseHandling(options.onTimeoutError);
    this.onUnknownError = parseHandling(options.onUnknownError);
    this.maxRetries = parseRetries(options.maxRetries);
    this.minRetrySpanMs = parseSpan(options.minRetrySpanMs);
    this.tools = options.tools ?? {};
    this.backoff = createBackoff(options.backoff ?? {});
    for (const { handling, maxRetries } of Object.values(this.tools)) {
      parseHandling(handling);
      parseRetries(maxRetries);
    }
  }

  /** Ends the run at the first failure of any kind. */
  static stopOnAnyError(): ErrorPolicy {
    return new ErrorPolicy();
  }

  /** Tries again after tool, validation, rate limit and timeout failures; ends the run on model and unknown ones. */
  static retryToolErrors(maxRetries = 3): ErrorPolicy {
    return new ErrorPolicy({
      onToolError: Retry,
      onValidationError: Retry,
      onRateLimitError: Retry,
      onTimeoutError: Retry,
      maxRetries,
    });
  }

  /** Leaves failed tools to the model; rate limits and timeouts are retried as often as `maxRetries` says. */
  static ignoreToolErrors(maxRetries = 0): ErrorPolicy {
    return new ErrorPolicy({
      onToolError: Ignore,
      onValidationError: Ignore,
      onUnknownError: Ignore,
      onRateLimitError: Retry,
      onTimeoutError: Retry,
      maxRetries,
    });
  }

  /** Tries again after any failure. */
  static retryAll(maxRetries = 5): ErrorPolicy {
    return ErrorPolicy.retryToolErrors(maxRetries).withModelErrorHandling(Retry).withUnknownErrorHandling(Retry);
  }

  withToolErrorHandling(onToolError: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this, onToolError });
  }
  withModelErrorHandling(onModelError: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this, onModelError });
  }
  withValidationErrorHandling(onValidationError: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this, onValidationError });
  }
  withRateLimitErrorHandling(onRateLimitError: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this, onRateLimitError });
  }
  withTimeoutErrorHandling(onTimeoutError: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this, onTimeoutError });
  }
  withUnknownErrorHandling(onUnknownError: ErrorHandlingDecision): ErrorPolicy {
    return new ErrorPolicy({ ...this, onUnknownError });
  }

  withMaxRetries(maxRetries: number): ErrorPolicy {
    return new ErrorPolicy({ ...this, maxRetries });
  }

  /** Sets the time that failures in a row must span before they end the run. */
  withMinRetrySpanMs(minRetrySpanMs: number): ErrorPolicy {
    return new ErrorPolicy({ ...this, minRetrySpanMs });
  }

  /** Gives one tool its own rule, for every kind of failure that the tool can have. */
  withTool(name: string, rule: ErrorHandlingDecision | ToolErrorRule): ErrorPolicy {
    const given = typeof rule === 'string' ? { handling: rule } : rule;
    return new ErrorPolicy({ ...this, tools: { ...this.tools, [name]: { ...this.#ruleFor(name), ...given } } });
  }

  /** Changes the waits before retries; what is left out stays as it is. */
  withBackoff(options: Partial<Backoff>): ErrorPolicy {
    return new ErrorPolicy({ ...this, backoff: { ...this.backoff, ...options } });
  }

  /** The decision about one failure, in one word. */
  evaluate(context: ErrorContext): ErrorHandlingDecision {
    return this.handle(context).decision;
  }

  /** The decision about all failures of a step: each is judged, and the gravest decides. */
  handle(contexts: ErrorContext | readonly ErrorContext[]): ErrorHandling {
    const handlings = [contexts].flat().map((context) => this.#handleOne(context));
    return handlings.length === 0 ? this.#handleOne(ErrorContext.none()) : handlings.reduce(pickGraver);
  }

  /** Returns the wait before the retry: the longest that any of the retried failures asks for. */
  delayMs(contexts: ErrorContext | readonly ErrorContext[], random: () => number): number {
    const retried = [contexts].flat().filter((context) => this.evaluate(context) === Retry);
    return retried.reduce((longest, context) => Math.max(longest, this.#waitMs(context, random)), 0);
  }

  /** The policy as plain data, for logs and fingerprints. */
  toJSON(): Record<string, unknown> {
    return {
      tool: this.onToolError,
      model: this.onModelError,
      validation: this.onValidationError,
      rate_limit: this.onRateLimitError,
      timeout: this.onTimeoutError,
      unknown: this.onUnknownError,
      maxRetries: this.maxRetries,
      minRetrySpanMs: this.minRetrySpanMs,
      tools: this.tools,
      backoff: this.backoff,
    };
  }

  // A provider that says "at once" again and again would be asked without pause until the span is over.
  #waitMs(context: ErrorContext, random: () => number): number {
    const waitMs = backoffMs(this.backoff, context, random);
    const isAskedInVain = context.retryAfterMs !== undefined && context.consecutiveFailures >= this.maxRetries && needsWait(context);
    return isAskedInVain ? Math.max(waitMs, drawWaitMs(this.backoff, context.consecutiveFailures, random)) : waitMs;
  }

  #handleOne(context: ErrorContext): ErrorHandling {
    const rule = context.toolName === undefined ? undefined : this.#ruleFor(context.toolName);
    const maxRetries = rule?.maxRetries ?? this.maxRetries;
    const span = this.minRetrySpanMs > 0 && needsWait(context) ? { minRetrySpanMs: this.minRetrySpanMs } : {};
    const answer = (decision: ErrorHandlingDecision, cause: ErrorHandling['cause']): ErrorHandling => ({
      decision,
      cause,
      context,
      maxRetries,
      ...span,
    });

    if (context.consecutiveFailures === 0) return answer(Ignore, 'no-error');
    const decision = rule?.handling ?? this[optionFor[context.type]];
    if (decision === Ignore) return context.readable === false ? answer(Stop, 'nothing-to-read') : answer(Ignore, 'policy');
    if (decision === Stop) return answer(Stop, 'policy');
    if (context.retryable === false) return answer(Stop, 'not-retryable');
    // If the span is not known, their number decides.
    const isLongEnough = (context.failureSpanMs ?? Infinity) >= (span.minRetrySpanMs ?? 0);
    if (context.consecutiveFailures >= maxRetries && isLongEnough) return answer(Stop, 'retries-used-up');
    const exceeded = findExceededBound(this.backoff, context);
    return exceeded === undefined ? answer(Retry, 'policy') : { ...answer(Stop, 'wait-too-long'), exceeded };
  }

  // Own keys only: a tool may be called "constructor".
  #ruleFor(name: string): ToolErrorRule | undefined {
    return Object.hasOwn(this.tools, name) ? this.tools[name] : undefined;
  }
}
