import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
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

describe('the constructor', () => {
  const counts = { consecutiveFailures: 1, totalFailures: 2 };

  test('makes plain data that never changes', () => {
    const made = new ErrorContext({ type: 'tool', ...counts, message: 'offline', toolName: 'search', code: undefined });
    expect(made).toStrictEqual({ type: 'tool', ...counts, message: 'offline', toolName: 'search' });
    expect(Object.isFrozen(made)).toBe(true);
    expect(ErrorPolicy.retryToolErrors(3).evaluate(made)).toBe('retry');
  });

  test.each([
    ['nothing', undefined, 'needs an object, not undefined'],
    [
      'an unknown type',
      { type: 'weather', ...counts },
      'type must be one of tool, model, validation, rate_limit, timeout, unknown, not "weather"',
    ],
    ['no counts', { type: 'tool' }, 'consecutiveFailures must be a whole number of 0 or more, not undefined'],
    ['half a failure', { type: 'tool', ...counts, totalFailures: 0.5 }, 'totalFailures must be a whole number of 0 or more, not 0.5'],
    ['a message that is not a text', { type: 'tool', ...counts, message: 7 }, 'message must be a string, not 7'],
    ['a negative wait', { type: 'tool', ...counts, retryAfterMs: -1 }, 'retryAfterMs must be a number of 0 or more, not -1'],
    ['a flag in words', { type: 'tool', ...counts, retryable: 'no' }, 'retryable must be true or false, not "no"'],
    ['metadata that is a list', { type: 'tool', ...counts, metadata: [] }, 'metadata must be an object, not an empty list'],
    ['an unknown field', { type: 'tool', ...counts, tool: 'search' }, 'Unknown option "tool"'],
  ])('refuses %s', (_name, fields, message) => {
    // Holds because this is what a caller without types can give.
    const make = () => new ErrorContext(fields as unknown as ErrorContext);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });
});
