import { InvalidArgumentError } from '../lib/index.ts';
import type { Backoff } from './backoff.ts';
import { backoffMs, createBackoff, defaultBackoff, waitsTooLong } from './backoff.ts';
import { ErrorContext } from './error-context.ts';
import type { ErrorHandling } from './error-handling.ts';
import { graver } from './error-handling.ts';
import { ErrorHandlingDecision } from './error-handling-decision.ts';
import { ErrorType } from './error-type.ts';

const { Stop, Retry, Ignore } = ErrorHandlingDecision;

/** What one tool's failures get instead of the general rule. */
export interface ToolErrorRule {
  readonly handling?: ErrorHandlingDecision;
  readonly maxRetries?: number;
}

type Handlings = Readonly<Record<ErrorType, ErrorHandlingDecision>>;

interface Settings {
  readonly handlings: Handlings;
  readonly maxRetries: number;
  readonly tools: Readonly<Record<string, ToolErrorRule>>;
  readonly backoff: Backoff;
}

const all = (decision: ErrorHandlingDecision): Handlings => ({
  tool: decision,
  model: decision,
  validation: decision,
  rate_limit: decision,
  timeout: decision,
  unknown: decision,
});

function checkedRetries(maxRetries: number): number {
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw new InvalidArgumentError(`maxRetries must be a whole number of 0 or more, not ${String(maxRetries)}.`);
  }
  return maxRetries;
}

function checkedHandling(decision: ErrorHandlingDecision): ErrorHandlingDecision {
  const known: readonly string[] = Object.values(ErrorHandlingDecision);
  if (known.includes(decision)) return decision;
  throw new InvalidArgumentError(`An error is handled by stop, retry or ignore, not by ${decision}.`);
}

/**
 * Says what to do about each kind of failure. Immutable: every `with…` returns a new policy.
 * `maxRetries` counts attempts: with 3, failures one and two are retried and the third ends the run.
 */
export class ErrorPolicy {
  readonly maxRetries: number;
  readonly backoff: Backoff;
  readonly tools: Readonly<Record<string, ToolErrorRule>>;
  readonly #handlings: Handlings;

  private constructor(settings: Settings) {
    this.#handlings = settings.handlings;
    this.maxRetries = checkedRetries(settings.maxRetries);
    this.tools = settings.tools;
    this.backoff = settings.backoff;
  }

  static #preset(handlings: Partial<Handlings>, maxRetries: number): ErrorPolicy {
    return new ErrorPolicy({ handlings: { ...all(Stop), ...handlings }, maxRetries, tools: {}, backoff: defaultBackoff });
  }

  /** Ends the run at the first failure of any kind. */
  static stopOnAnyError(): ErrorPolicy {
    return ErrorPolicy.#preset({}, 0);
  }

  /** Tries again after tool, validation, rate limit and timeout failures; ends the run on model and unknown ones. */
  static retryToolErrors(maxRetries = 3): ErrorPolicy {
    return ErrorPolicy.#preset({ tool: Retry, validation: Retry, rate_limit: Retry, timeout: Retry }, maxRetries);
  }

  /** Lets the model live with failed tools; rate limits and timeouts are retried as often as `maxRetries` says. */
  static ignoreToolErrors(maxRetries = 0): ErrorPolicy {
    return ErrorPolicy.#preset({ tool: Ignore, validation: Ignore, unknown: Ignore, rate_limit: Retry, timeout: Retry }, maxRetries);
  }

  /** Tries again after any failure. */
  static retryAll(maxRetries = 5): ErrorPolicy {
    return ErrorPolicy.#preset(all(Retry), maxRetries);
  }

  get onToolError(): ErrorHandlingDecision {
    return this.#handlings.tool;
  }
  get onModelError(): ErrorHandlingDecision {
    return this.#handlings.model;
  }
  get onValidationError(): ErrorHandlingDecision {
    return this.#handlings.validation;
  }
  get onRateLimitError(): ErrorHandlingDecision {
    return this.#handlings.rate_limit;
  }
  get onTimeoutError(): ErrorHandlingDecision {
    return this.#handlings.timeout;
  }
  get onUnknownError(): ErrorHandlingDecision {
    return this.#handlings.unknown;
  }

  withToolErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#withHandling(ErrorType.Tool, decision);
  }
  withModelErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#withHandling(ErrorType.Model, decision);
  }
  withValidationErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#withHandling(ErrorType.Validation, decision);
  }
  withRateLimitErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#withHandling(ErrorType.RateLimit, decision);
  }
  withTimeoutErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#withHandling(ErrorType.Timeout, decision);
  }
  withUnknownErrorHandling(decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#withHandling(ErrorType.Unknown, decision);
  }

  withMaxRetries(maxRetries: number): ErrorPolicy {
    return this.#with({ maxRetries });
  }

  /** Gives one tool its own rule, for every kind of failure that the tool can have. */
  withTool(name: string, rule: ErrorHandlingDecision | ToolErrorRule): ErrorPolicy {
    const given = typeof rule === 'string' ? { handling: rule } : rule;
    if (given.handling !== undefined) checkedHandling(given.handling);
    if (given.maxRetries !== undefined) checkedRetries(given.maxRetries);
    return this.#with({ tools: { ...this.tools, [name]: { ...this.#ruleFor(name), ...given } } });
  }

  withBackoff(options: Partial<Backoff>): ErrorPolicy {
    return this.#with({ backoff: createBackoff({ ...this.backoff, ...options }) });
  }

  /** The decision about one failure, in one word. */
  evaluate(context: ErrorContext): ErrorHandlingDecision {
    return this.handle(context).decision;
  }

  /** The decision about all failures of a step: each is judged, and the gravest decides. */
  handle(contexts: ErrorContext | readonly ErrorContext[]): ErrorHandling {
    if (!Array.isArray(contexts)) return this.#handleOne(contexts as ErrorContext);
    const handlings = (contexts as readonly ErrorContext[]).map((context) => this.#handleOne(context));
    return handlings.length === 0 ? this.#handleOne(ErrorContext.none()) : handlings.reduce(graver);
  }

  /** How long to wait before the retry: the longest wait that any of the retried failures wants. */
  delayMs(contexts: ErrorContext | readonly ErrorContext[], random: () => number): number {
    const list = Array.isArray(contexts) ? (contexts as readonly ErrorContext[]) : [contexts as ErrorContext];
    const retried = list.filter((context) => this.evaluate(context) === Retry);
    return retried.reduce((longest, context) => Math.max(longest, backoffMs(this.backoff, context, random)), 0);
  }

  /** The policy as plain data, for logs and fingerprints. */
  toJSON(): Record<string, unknown> {
    return { ...this.#handlings, maxRetries: this.maxRetries, tools: this.tools, backoff: this.backoff };
  }

  #handleOne(context: ErrorContext): ErrorHandling {
    const rule = context.toolName === undefined ? undefined : this.#ruleFor(context.toolName);
    const maxRetries = rule?.maxRetries ?? this.maxRetries;
    const answer = (decision: ErrorHandlingDecision, cause: ErrorHandling['cause']): ErrorHandling => ({
      decision,
      cause,
      context,
      maxRetries,
    });

    if (context.consecutiveFailures === 0) return answer(Ignore, 'no-error');
    const decision = rule?.handling ?? this.#handlings[context.type];
    if (decision === Ignore) return context.readable === false ? answer(Stop, 'nothing-to-read') : answer(Ignore, 'policy');
    if (decision === Stop) return answer(Stop, 'policy');
    if (context.retryable === false) return answer(Stop, 'not-retryable');
    if (context.consecutiveFailures >= maxRetries) return answer(Stop, 'retries-used-up');
    if (waitsTooLong(this.backoff, context)) return answer(Stop, 'wait-too-long');
    return answer(Retry, 'policy');
  }

  // Own keys only: a tool may be called "constructor".
  #ruleFor(name: string): ToolErrorRule | undefined {
    return Object.hasOwn(this.tools, name) ? this.tools[name] : undefined;
  }

  #withHandling(type: ErrorType, decision: ErrorHandlingDecision): ErrorPolicy {
    return this.#with({ handlings: { ...this.#handlings, [type]: checkedHandling(decision) } });
  }

  #with(change: Partial<Settings>): ErrorPolicy {
    return new ErrorPolicy({
      handlings: this.#handlings,
      maxRetries: this.maxRetries,
      tools: this.tools,
      backoff: this.backoff,
      ...change,
    });
  }
}
