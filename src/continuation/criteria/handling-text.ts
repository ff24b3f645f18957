import type { ErrorHandling } from '../../errors/index.ts';
import { ErrorHandlingDecision } from '../../errors/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { assertNever, pluralize } from '../../lib/index.ts';

const toSeconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;

/** Describes failures in a row and their span, in the words of a policy that looks at both. */
function describeSpan({ context, maxRetries, minRetrySpanMs = 0 }: ErrorHandling, ends: string): string {
  const { consecutiveFailures, failureSpanMs } = context;
  const after = failureSpanMs === undefined ? '' : ` after ${toSeconds(failureSpanMs)}`;
  return `failure ${consecutiveFailures} in a row${after} (${ends} ${pluralize(maxRetries, 'failure')} that span ${toSeconds(minRetrySpanMs)})`;
}

function describeLongWait({ context: { retryAfterMs = 0 }, exceeded }: ErrorHandling): string {
  const asked = `the provider asked for a ${toSeconds(retryAfterMs)} wait`;
  if (exceeded === undefined) return `${asked}; not retried`;
  const bound = toSeconds(exceeded.boundMs);
  return exceeded.bound === 'time-left'
    ? `${asked}, but only ${bound} of the time limit are left; not retried`
    : `${asked}, but the policy waits at most ${bound} (backoff.longestRetryAfterMs); not retried`;
}

function stopText(handling: ErrorHandling, subject: string): string {
  const { cause, context, maxRetries, minRetrySpanMs } = handling;
  switch (cause) {
    case 'retries-used-up':
      if (minRetrySpanMs !== undefined) return `${subject}: ${describeSpan(handling, 'limit:')}`;
      return `${subject}: attempt ${context.consecutiveFailures} failed, ${maxRetries} allowed`;
    case 'wait-too-long':
      return `${subject}: ${describeLongWait(handling)}`;
    case 'not-retryable':
      return `${subject}: the policy would retry, but trying again cannot help; handled as stop`;
    case 'nothing-to-read':
      return `${subject}: the policy would ignore it, but the model has no result to go on with; handled as stop`;
    case 'policy':
    case 'no-error':
      return `${subject}: the policy stops`;
    default:
      return assertNever(cause);
  }
}

/** A policy's decision in words. */
export function toHandlingReason(handling: ErrorHandling): string {
  const { decision, context, maxRetries, minRetrySpanMs } = handling;
  if (handling.cause === 'no-error') return 'no errors';
  const tool = context.toolName === undefined ? '' : ` in ${context.toolName}`;
  const subject = `${context.type} error${tool}`;
  if (decision === ErrorHandlingDecision.Stop) return stopText(handling, subject);
  if (decision === ErrorHandlingDecision.Ignore) return `${subject}: ignored by policy`;
  if (minRetrySpanMs !== undefined && context.consecutiveFailures >= maxRetries)
    return `${subject}: retrying, ${describeSpan(handling, 'ends after')}`;
  return `${subject}: retrying, attempt ${context.consecutiveFailures} of ${maxRetries} failed`;
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
