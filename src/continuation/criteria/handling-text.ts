import type { ErrorHandling } from '../../errors/index.ts';
import { ErrorHandlingDecision } from '../../errors/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { assertNever } from '../../lib/index.ts';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function stopText({ cause, context, maxRetries }: ErrorHandling, subject: string): string {
  switch (cause) {
    case 'retries-used-up':
      return `${subject}: attempt ${context.consecutiveFailures} failed, ${maxRetries} allowed`;
    case 'wait-too-long':
      return `${subject}: the provider asks to wait ${seconds(context.retryAfterMs ?? 0)}, which is longer than we wait or than there is time`;
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
  const { decision, context, maxRetries } = handling;
  if (handling.cause === 'no-error') return 'no errors';
  const tool = context.toolName === undefined ? '' : ` in ${context.toolName}`;
  const subject = `${context.type} error${tool}`;
  if (decision === ErrorHandlingDecision.Stop) return stopText(handling, subject);
  if (decision === ErrorHandlingDecision.Ignore) return `${subject}: ignored by policy`;
  return `${subject}: retrying, attempt ${context.consecutiveFailures} of ${maxRetries} failed`;
}

/** The numbers behind a policy's decision. */
export function toHandlingContext({ decision, cause, context, maxRetries }: ErrorHandling): JsonObject {
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
  };
}
