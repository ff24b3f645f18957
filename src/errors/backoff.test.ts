import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import { backoffMs, createBackoff, defaultBackoff, findExceededBound } from './backoff.ts';
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
  test('are base 1 s, factor 2, cap 30 s and no Retry-After above 60 s', () => {
    expect(defaultBackoff).toStrictEqual({ baseMs: 1000, factor: 2, capMs: 30_000, longestRetryAfterMs: 60_000 });
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
    expect(backoffMs(defaultBackoff, context({ type }), () => 0.5)).toBe(750);
  });

  test.each([
    [1, 500, 999],
    [2, 1000, 1999],
    [3, 2000, 3999],
    [4, 4000, 7999],
    [5, 8000, 15_999],
    [6, 15_000, 29_999],
    [7, 15_000, 29_999],
    [2000, 15_000, 29_999],
  ])('after failure %i it is between %i and %i ms', (consecutiveFailures, shortest, longest) => {
    expect(backoffMs(defaultBackoff, context({ consecutiveFailures }), highest)).toBe(longest);
    expect(backoffMs(defaultBackoff, context({ consecutiveFailures }), () => 0)).toBe(shortest);
  });

  test('is a whole number between half the ceiling and the ceiling, never above the cap', () => {
    fc.assert(
      fc.property(
        fc.record({ baseMs: fc.nat(5000), factor: fc.double({ min: 0, max: 8, noNaN: true }), capMs: fc.nat(60_000) }),
        fc.integer({ min: 1, max: 300 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (options, consecutiveFailures, chance) => {
          const backoff = createBackoff(options);
          const ceiling = Math.min(backoff.capMs, backoff.baseMs * backoff.factor ** (consecutiveFailures - 1));
          const wait = backoffMs(backoff, context({ consecutiveFailures }), () => chance);
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(Math.floor(ceiling / 2));
          expect(wait).toBeLessThanOrEqual(ceiling);
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
  test.each([
    [{ retryAfterMs: 61_000 }, { bound: 'longest-wait', boundMs: 60_000 }],
    [
      { retryAfterMs: 5000, remainingMs: 4999 },
      { bound: 'time-left', boundMs: 4999 },
    ],
    [
      { retryAfterMs: 90_000, remainingMs: 30_000 },
      { bound: 'time-left', boundMs: 30_000 },
    ],
    [
      { retryAfterMs: 90_000, remainingMs: 80_000 },
      { bound: 'longest-wait', boundMs: 60_000 },
    ],
    [{ retryAfterMs: 5000, remainingMs: 5000 }, undefined],
    [{ retryAfterMs: 0, remainingMs: 0 }, undefined],
    [{ remainingMs: -1 }, undefined],
    [{}, undefined],
  ] as const)('%o is compared with the smaller bound: %o', (fields, expected) => {
    expect(findExceededBound(defaultBackoff, context({ type: 'rate_limit', ...fields }))).toStrictEqual(expected);
  });
});
