// The event lines alone tell the rule, the reason and the numbers of every staged fault.
import { describe, expect, test } from 'vitest';
import { faults } from './faults.ts';
import { findLineProblems } from './find-problems.ts';

test('the table has at least 60 faults, each with a name of its own', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThanOrEqual(60);
});

describe('the event lines alone state the rule, its reason and its numbers', () => {
  test.each(faults)('$name', async ({ stage, truth }) => {
    const { lines, stored } = await stage();
    expect(findLineProblems(lines, truth), lines.join('\n')).toStrictEqual([]);
    if (stored !== undefined) expect(findLineProblems(stored, truth), stored.join('\n')).toStrictEqual([]);
  });
});
