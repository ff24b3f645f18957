import { expect, test } from 'vitest';
import { ErrorHandlingDecision } from './error-handling-decision.ts';
import { ErrorType, isErrorType } from './error-type.ts';

test('there are six error types, with the wire values of the documents', () => {
  expect(ErrorType).toStrictEqual({
    Tool: 'tool',
    Model: 'model',
    Validation: 'validation',
    RateLimit: 'rate_limit',
    Timeout: 'timeout',
    Unknown: 'unknown',
  });
});

test('there are three handling decisions, with the wire values of the documents', () => {
  expect(ErrorHandlingDecision).toStrictEqual({ Stop: 'stop', Retry: 'retry', Ignore: 'ignore' });
});

test.each(Object.values(ErrorType))('%s is an error type', (type) => {
  expect(isErrorType(type)).toBe(true);
});

test.each([undefined, null, '', 'Tool', 'RATE_LIMIT', 'constructor', 1, {}, ['tool']])('%j is no error type', (value) => {
  expect(isErrorType(value)).toBe(false);
});
