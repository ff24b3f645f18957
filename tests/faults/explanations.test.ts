// explain() alone tells the rule, the reason and the numbers of every staged fault, safely and in at most 40 lines.
import { describe, expect, test } from 'vitest';
import { faults } from './faults.ts';
import { findExplanationProblems } from './find-problems.ts';

describe('the explanation alone states the rule, its reason and its numbers', () => {
  test.each(faults)('$name', async ({ stage, truth }) => {
    const { explanation } = await stage();
    expect(findExplanationProblems(explanation, truth), explanation).toStrictEqual([]);
  });
});
