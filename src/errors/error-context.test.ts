import { expect, test } from 'vitest';
import { ErrorContext } from './error-context.ts';
import { ErrorPolicy } from './error-policy.ts';

test('the context of a step without failures is zeroed', () => {
  expect(ErrorContext.none()).toStrictEqual({ type: 'unknown', consecutiveFailures: 0, totalFailures: 0 });
});

test('nobody can write into the shared context of a step without failures', () => {
  expect(Object.isFrozen(ErrorContext.none())).toBe(true);
});

test('a context and its handling go through JSON unchanged', () => {
  const context: ErrorContext = {
    type: 'rate_limit',
    consecutiveFailures: 1,
    totalFailures: 4,
    message: 'slow down',
    code: 'rate-limited',
    toolName: 'search',
    toolCallId: 'call_1',
    retryable: true,
    readable: false,
    retryAfterMs: 1500,
    remainingMs: 90_000,
    metadata: { region: 'eu' },
  };
  const handling = ErrorPolicy.retryAll().handle(context);
  expect(handling).toStrictEqual({ decision: 'retry', cause: 'policy', context, maxRetries: 5 });
  expect(JSON.parse(JSON.stringify(handling))).toStrictEqual(handling);
  expect(JSON.parse(JSON.stringify(ErrorContext.none()))).toStrictEqual(ErrorContext.none());
});
