import { expect, test } from 'vitest';
import type { Failure } from './failure.ts';
import { isOutage } from './outage.ts';

test.each([
  [{ type: 'rate_limit' }, true],
  [{ type: 'timeout' }, true],
  [{ type: 'model', code: 'http-503' }, true],
  [{ type: 'model', code: 'stream-interrupted' }, true],
  [{ type: 'model', code: 'empty-response' }, false],
  [{ type: 'model', retryable: false }, false],
  [{ type: 'rate_limit', retryable: false }, false],
  [{ type: 'rate_limit', toolName: 'search' }, false],
  [{ type: 'timeout', toolName: 'search' }, false],
  [{ type: 'tool' }, false],
  [{ type: 'validation' }, false],
  [{ type: 'unknown' }, false],
] satisfies readonly (readonly [Partial<Failure> & Pick<Failure, 'type'>, boolean])[])('%o is an outage: %s', (fields, expected) => {
  expect(isOutage({ code: 'x', message: 'x', retryable: true, ...fields })).toBe(expected);
});
