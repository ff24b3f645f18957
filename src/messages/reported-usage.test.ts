import { expect, test } from 'vitest';
import { toUsage } from './usage.ts';

test.each([
  [
    { input: 3, output: 2 },
    { input: 3, output: 2, total: 5 },
  ],
  [
    { input: 0, output: 0 },
    { input: 0, output: 0, total: 0 },
  ],
  [
    { input: 3, output: 2, cacheRead: 1, cacheWrite: 0, reasoning: 1 },
    { input: 3, output: 2, total: 5, cacheRead: 1, cacheWrite: 0, reasoning: 1 },
  ],
  [
    { input: 3, output: 2, reasoning: 340 },
    { input: 3, output: 342, total: 345, reasoning: 340 },
  ],
  [{}, { input: 0, output: 0, total: 0, unknownCalls: 1 }],
  [{ input: 3 }, { input: 3, output: 0, total: 3, unknownCalls: 1 }],
  [
    { input: Number.NaN, output: 2 },
    { input: 0, output: 2, total: 2, unknownCalls: 1 },
  ],
  [
    { input: -1, output: Number.POSITIVE_INFINITY, cacheRead: Number.NaN },
    { input: 0, output: 0, total: 0, unknownCalls: 1 },
  ],
  [
    { input: null, output: undefined },
    { input: 0, output: 0, total: 0, unknownCalls: 1 },
  ],
  [
    { input: '3' as unknown as number, output: 2 },
    { input: 0, output: 2, total: 2, unknownCalls: 1 },
  ],
])('%o is read as %o (M7)', (reported, usage) => {
  expect(toUsage(reported)).toStrictEqual(usage);
});
