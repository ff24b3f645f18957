import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import type { Backoff } from './backoff.ts';
import { backoffMs, createBackoff, defaultBackoff, waitsTooLong } from './backoff.ts';
import type { ErrorContext } from './error-context.ts';

const never = (): number => {
  throw new Error('chance was asked although nothing depends on it');
};
const highest = (): number => 1 - Number.EPSILON;
const context = (fields: Partial<ErrorContext> = {}): ErrorContext => ({
  type: 'model',
  consecutiveFailures: 1,
  totalFailures: 1,
  ...fields,
});

describe('the defaults', () => {
  test('are base 500 ms, factor 2, cap 30 s and no Retry-After above 60 s', () => {
    expect(defaultBackoff).toStrictEqual({ baseMs: 500, factor: 2, capMs: 30_000, longestRetryAfterMs: 60_000 });
    expect(Object.isFrozen(defaultBackoff)).toBe(true);
  });

  test('fill in what is not given', () => {
    expect(createBackoff({ capMs: 9 })).toStrictEqual({ ...defaultBackoff, capMs: 9 });
  });

  test.each(['baseMs', 'factor', 'capMs', 'longestRetryAfterMs'] as const)('%s must be a number of 0 or more', (name) => {
    for (const value of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      expect(() => createBackoff({ [name]: value })).toThrow(InvalidArgumentError);
      expect(() => createBackoff({ [name]: value })).toThrow(name);
    }
    expect(createBackoff({ [name]: 0 })[name]).toBe(0);
  });
});

describe('the wait before a retry', () => {
  test.each([
    ['tool', undefined],
    ['tool', 'search'],
    ['validation', undefined],
    ['timeout', 'search'],
  ] as const)('a %s error (tool: %s) is retried at once', (type, toolName) => {
    expect(backoffMs(defaultBackoff, context({ type, ...(toolName !== undefined && { toolName }) }), never)).toBe(0);
  });

  test.each(['rate_limit', 'timeout', 'model', 'unknown'] as const)('a %s error waits', (type) => {
    expect(backoffMs(defaultBackoff, context({ type }), () => 0.5)).toBe(250);
  });

  test.each([
    [1, 499],
    [2, 999],
    [3, 1999],
    [4, 3999],
    [6, 15_999],
    [7, 29_999],
    [8, 29_999],
    [2000, 29_999],
  ])('after failure %i it stays within %i ms', (consecutiveFailures, longest) => {
    expect(backoffMs(defaultBackoff, context({ consecutiveFailures }), highest)).toBe(longest);
    expect(backoffMs(defaultBackoff, context({ consecutiveFailures }), () => 0)).toBe(0);
  });

  test('full jitter: any whole number from 0 up to the ceiling, never above the cap', () => {
    fc.assert(
      fc.property(
        fc.record({ baseMs: fc.nat(5000), factor: fc.double({ min: 0, max: 8, noNaN: true }), capMs: fc.nat(60_000) }),
        fc.integer({ min: 1, max: 300 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (options, consecutiveFailures, chance) => {
          const backoff = createBackoff(options);
          const ceiling = Math.min(backoff.capMs, backoff.baseMs * backoff.factor ** (consecutiveFailures - 1));
          const wait = backoffMs(backoff, context({ consecutiveFailures }), () => chance);
          expect(wait).toBe(Math.floor(chance * ceiling));
          expect(wait).toBeGreaterThanOrEqual(0);
          expect(wait).toBeLessThanOrEqual(backoff.capMs);
        },
      ),
    );
  });

  test('a backoff of nothing stays nothing, however often it grew', () => {
    const backoff = createBackoff({ baseMs: 0 });
    expect(backoffMs(backoff, context({ consecutiveFailures: 2000 }), highest)).toBe(0);
  });

  test.each(['tool', 'validation', 'rate_limit', 'timeout', 'model', 'unknown'] as const)(
    'what the provider asks for wins over everything: %s',
    (type) => {
      expect(backoffMs(defaultBackoff, context({ type, retryAfterMs: 45_000 }), never)).toBe(45_000);
      expect(backoffMs(defaultBackoff, context({ type, retryAfterMs: 0 }), never)).toBe(0);
    },
  );
});

describe('a wait that is too long', () => {
  const limited: Backoff = createBackoff({ longestRetryAfterMs: 60_000 });

  test.each([
    [undefined, undefined, false],
    [undefined, 0, false],
    [60_000, undefined, false],
    [60_001, undefined, true],
    [5000, 5000, false],
    [5000, 4999, true],
    [5000, -1, true],
    [0, 0, false],
  ])('Retry-After %s with %s ms left on the wall clock: %s', (retryAfterMs, remainingMs, expected) => {
    const given = context({
      type: 'rate_limit',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(remainingMs !== undefined && { remainingMs }),
    });
    expect(waitsTooLong(limited, given)).toBe(expected);
  });
});
