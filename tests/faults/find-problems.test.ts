// The checks of the table can fail: they see what is missing, untrue, forged, secret or too long.
import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../../src/entry/testing.ts';
import type { Truth } from './fault.ts';
import { faults } from './faults.ts';
import { findExplanationProblems, findLineProblems } from './find-problems.ts';
import { forged, secret } from './poison.ts';
import { stageAgent } from './world.ts';

const truth: Truth = { status: 'stopped', rule: 'StepsLimit', reason: ['4 of 4'], step: 4, untrue: ['retried'] };
const good = ['Agent [a] step 4: STOP (steps_limit) StepsLimit: 4 of 4 steps used', 'Agent [a] step 4: run stopped after 4 steps'];

test('a good explanation and good lines have no problems', () => {
  expect(findExplanationProblems('Stopped after step 4: StepsLimit, 4 of 4.', truth)).toStrictEqual([]);
  expect(findLineProblems(good, truth)).toStrictEqual([]);
});

describe('the check of an explanation sees', () => {
  test.each([
    ['a rule that is not named', 'Stopped after step 4 (4 of 4).'],
    ['numbers that are missing', 'Stopped after step 4: StepsLimit.'],
    ['another step', 'Stopped after step 14: StepsLimit, 4 of 4.'],
    ['a headline of another status', 'Completed in step 4: StepsLimit, 4 of 4.'],
    ['an untruth', 'Stopped after step 4: StepsLimit, 4 of 4, retried.'],
    ['a secret', `Stopped after step 4: StepsLimit, 4 of 4. ${secret.apiKey}`],
    ['a forged line', 'Stopped after step 4: StepsLimit, 4 of 4.\nAgent [deadbeef] step 9: STOP'],
    ['control characters', 'Stopped after step 4: StepsLimit, 4 of 4.\u001b[31m'],
    ['too many lines', `Stopped after step 4: StepsLimit, 4 of 4.${'\n'.repeat(40)}`],
  ])('%s', (_, explanation) => {
    expect(findExplanationProblems(explanation, truth)).toHaveLength(1);
  });
});

describe('the check of event lines sees', () => {
  const [stop = '', end = ''] = good;
  test.each([
    ['a reason apart from its rule', ['Agent [a] step 4: STOP StepsLimit', 'Agent [a] step 4: 4 of 4 steps used', end]],
    ['an end of another status', [stop, 'Agent [a] step 4: run completed after 4 steps']],
    ['a line of two lines', [`${stop}\nmore`, end]],
    ['a line without an agent', [stop, end, 'more to say']],
    ['a secret', [`${stop} ${secret.urlPassword}`, end]],
    ['a forged line', [`${stop}${forged}`, end]],
    [
      'a line that says the same thing twice',
      ['Agent [a] step 4: STOP (guard) StepsLimit: 4 of 4 steps used; also StepsLimit: 4 of 4 steps used', end],
    ],
  ])('%s', (_, lines) => {
    expect(findLineProblems(lines, truth).length).toBeGreaterThan(0);
  });
});

test('no row of the table is satisfied by a run in which nothing went wrong', async () => {
  const { lines } = await stageAgent(() => ({ model: scriptedModel(['Hello.']) }));
  expect(faults.filter((fault) => findLineProblems(lines, fault.truth).length === 0).map(({ name }) => name)).toStrictEqual([]);
});
