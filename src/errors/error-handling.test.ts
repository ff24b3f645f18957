import { describe, expect, test } from 'vitest';
import type { ErrorHandling } from './error-handling.ts';
import { pickGraver } from './error-handling.ts';
import type { ErrorHandlingDecision } from './error-handling-decision.ts';

const handling = (decision: ErrorHandlingDecision): ErrorHandling => ({
  decision,
  cause: 'policy',
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
    expect(pickGraver(heavy, other)).toBe(heavy);
    expect(pickGraver(other, heavy)).toBe(heavy);
  });

  test.each(['stop', 'retry', 'ignore'] as const)('of two that say %s the first is named', (decision) => {
    const first = handling(decision);
    expect(pickGraver(first, handling(decision))).toBe(first);
  });
});
