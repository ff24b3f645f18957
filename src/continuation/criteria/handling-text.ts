import type { ErrorHandling, ErrorType } from '../../errors/index.ts';
import { ErrorHandlingDecision } from '../../errors/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { assertNever, pluralize, toOrdinal } from '../../lib/index.ts';

const toSeconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;

/** Describes failures in a row and their span, in the words of a policy that looks at both. */
function describeSpan({ context, maxRetries, minRetrySpanMs = 0 }: ErrorHandling): string {
  const { consecutiveFailures, failureSpanMs } = context;
  const after = failureSpanMs === undefined ? '' : ` after ${toSeconds(failureSpanMs)}`;
  return `${toOrdinal(consecutiveFailures)} failure in a row${after} (limit: ${pluralize(maxRetries, 'failure')} and ${toSeconds(minRetrySpanMs)}, whichever comes later)`;
}

const kinds: Readonly<Record<ErrorType, string>> = {
  tool: 'tool error',
  model: 'model error',
  validation: 'validation error',
  rate_limit: 'rate limit error',
  timeout: 'time-out',
  unknown: 'error',
};

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

function describeLongWait({ context: { retryAfterMs = 0 }, exceeded }: ErrorHandling): string {
  const asked = `the provider asked for a ${toSeconds(retryAfterMs)} wait`;
  if (exceeded === undefined) return `${asked}. Not retried`;
  const bound = toSeconds(exceeded.boundMs);
  return exceeded.bound === 'time-left'
    ? `${asked}, but only ${bound} of the time limit are left. Not retried`
    : `${asked}, but the policy waits at most ${bound} (backoff.longestRetryAfterMs). Not retried`;
}

function stopText(handling: ErrorHandling, subject: string): string {
  const { cause, context, maxRetries, minRetrySpanMs } = handling;
  switch (cause) {
    case 'retries-used-up':
      if (minRetrySpanMs !== undefined) return `${describeSpan(handling)}, the last one ${withArticle(subject)}`;
      if (context.consecutiveFailures === 1) return `first failure, ${withArticle(subject)} (limit ${maxRetries}: no retries)`;
      return `${toOrdinal(context.consecutiveFailures)} failure in a row (limit ${maxRetries}), the last one ${withArticle(subject)}`;
    case 'wait-too-long':
      return describeLongWait(handling);
    case 'not-retryable':
      return `${withArticle(subject)} that a retry cannot fix; the policy stops the run`;
    case 'nothing-to-read':
      return `${withArticle(subject)} that cannot be ignored, because the model has no result to read; the policy stops the run`;
    case 'policy':
    case 'no-error':
      return `the policy stops the run on ${withArticle(subject)}`;
    default:
      return assertNever(cause);
  }
}

/** A policy's decision in words. */
export function toHandlingReason(handling: ErrorHandling): string {
  const { decision, context, maxRetries, minRetrySpanMs } = handling;
  if (handling.cause === 'no-error') return 'nothing failed';
  const tool = context.toolName === undefined ? '' : ` in ${context.toolName}`;
  const subject = `${kinds[context.type]}${tool}`;
  if (decision === ErrorHandlingDecision.Stop) return stopText(handling, subject);
  if (decision === ErrorHandlingDecision.Ignore) return `${withArticle(subject)}, ignored by the policy`;
  if (minRetrySpanMs !== undefined && context.consecutiveFailures >= maxRetries)
    return `retry after ${withArticle(subject)}: ${describeSpan(handling)}`;
  return `retry after ${withArticle(subject)}: failure ${context.consecutiveFailures} of at most ${maxRetries} in a row`;
}

/** The numbers behind a policy's decision. */
export function toHandlingContext({ decision, cause, context, maxRetries, minRetrySpanMs, exceeded }: ErrorHandling): JsonObject {
  return {
    errorType: context.type,
    consecutiveFailures: context.consecutiveFailures,
    totalFailures: context.totalFailures,
    maxRetries,
    handling: decision,
    cause,
    toolName: context.toolName ?? null,
    ...(context.toolCallId !== undefined && { toolCallId: context.toolCallId }),
    ...(context.code !== undefined && { code: context.code }),
    ...(context.retryAfterMs !== undefined && { retryAfterMs: context.retryAfterMs }),
    ...(minRetrySpanMs !== undefined && context.failureSpanMs !== undefined && { failureSpanMs: context.failureSpanMs }),
    ...(minRetrySpanMs !== undefined && { minRetrySpanMs }),
    ...exceeded,
  };
}
