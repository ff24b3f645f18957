// The event lines alone tell the rule, the reason and the numbers of every staged fault.
import { describe, expect, test } from 'vitest';
import { faults } from './faults.ts';
import { findLineProblems, findUnsafeLines } from './find-problems.ts';

test('the table has at least 60 faults, each with a name of its own', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThanOrEqual(60);
});

describe('the event lines alone state the rule, its reason and its numbers', () => {
  test.each(faults)('$name', async ({ stage, truth }) => {
    const { lines, log, stored } = await stage();
    expect(findLineProblems(log, truth), log.join('\n')).toStrictEqual([]);
    expect(findUnsafeLines(lines)).toStrictEqual([]);
    if (stored === undefined) return;
    expect(findLineProblems(stored, truth), stored.join('\n')).toStrictEqual([]);
    // A stored event has the very line that it had when it was emitted.
    expect(stored.filter((line) => !lines.includes(line))).toStrictEqual([]);
  });
});
