import { describe, expect, test } from 'vitest';
import type { ErrorHandling, HandlingCause } from './error-handling.ts';
import { graver, isExhausted } from './error-handling.ts';
import type { ErrorHandlingDecision } from './error-handling-decision.ts';

const handling = (decision: ErrorHandlingDecision, cause: HandlingCause = 'policy'): ErrorHandling => ({
  decision,
  cause,
  context: { type: 'tool', consecutiveFailures: 1, totalFailures: 1 },
  maxRetries: 3,
});

describe('the graver of two handlings', () => {
  test.each([
    ['stop', 'retry'],
    ['stop', 'ignore'],
    ['retry', 'ignore'],
  ] as const)('%s outweighs %s, on either side', (grave, light) => {
    const [heavy, other] = [handling(grave), handling(light)];
    expect(graver(heavy, other)).toBe(heavy);
    expect(graver(other, heavy)).toBe(heavy);
  });

  test.each(['stop', 'retry', 'ignore'] as const)('of two that say %s the first is named', (decision) => {
    const first = handling(decision);
    expect(graver(first, handling(decision))).toBe(first);
  });
});

test.each([
  ['retries-used-up', true],
  ['wait-too-long', true],
  ['policy', false],
  ['not-retryable', false],
  ['nothing-to-read', false],
  ['no-error', false],
] as const)('a stop because of %s means that retrying is over: %s', (cause, expected) => {
  expect(isExhausted(handling('stop', cause))).toBe(expected);
});
