import { describe, expect, test } from 'vitest';
import type { ContinuationCriterion } from '../continuation/index.ts';
import { ContinuationDecision, StepsLimit, when } from '../continuation/index.ts';
import { criterionConformance } from './criterion-conformance.ts';

interface State {
  steps: number;
}

const states: readonly State[] = [{ steps: 0 }, { steps: 5 }];

async function failing(criterion: ContinuationCriterion<State>, given: readonly State[] = states): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, run } of criterionConformance(
    criterion,
    given.map((state) => ({ ...state })),
  )) {
    await Promise.resolve()
      .then(run)
      .catch(() => names.push(name.replace(`${criterion.name} `, '')));
  }
  return names;
}

const everything = [
  'answers in its own name',
  'gives the same state the same answer',
  'leaves the state as it was',
  'answers with data that can be stored',
];
const answer = { criterion: 'Odd', decision: ContinuationDecision.AllowContinuation, reason: 'fine', context: {} };

describe('the suite of criteria', () => {
  test.each<[string, ContinuationCriterion<State>]>([
    ['a limit', new StepsLimit<State>(3, ({ steps }) => steps)],
    ['a bare decision', { name: 'Bare', decide: () => 'allow' }],
    [
      'a date, which is judged as the text it is stored as',
      { name: 'Odd', explain: () => ({ ...answer, context: { at: new Date(0) as never } }) },
    ],
    ['when', when('Mood', ({ steps }) => ({ decision: steps > 2 ? 'stop' : 'allow', context: { steps } }))],
  ])('lets %s pass', async (_, criterion) => {
    expect(await failing(criterion)).toStrictEqual([]);
  });

  let calls = 0;
  test.each<[string, ContinuationCriterion<State>, readonly string[]]>([
    ['answers for another', { name: 'Odd', explain: () => ({ ...answer, criterion: 'Other' }) }, everything],
    [
      'answers otherwise each time',
      { name: 'Odd', explain: () => ({ ...answer, reason: `asked ${(calls += 1)} times` }) },
      ['gives the same state the same answer'],
    ],
    [
      'changes the state',
      {
        name: 'Odd',
        explain: (state) => {
          state.steps += 1;
          return answer;
        },
      },
      ['leaves the state as it was'],
    ],
    ['answers with a map', { name: 'Odd', explain: () => ({ ...answer, context: { seen: new Map() as never } }) }, everything],
    [
      'throws',
      {
        name: 'Odd',
        decide: () => {
          throw new Error('cannot say');
        },
      },
      everything,
    ],
    ['answers with a promise', { name: 'Odd', decide: () => Promise.resolve('allow') as never }, everything],
  ])('fails one that %s', async (_, criterion, names) => {
    expect(await failing(criterion)).toStrictEqual(names);
  });

  test('asks for at least one state', async () => {
    expect(await failing({ name: 'Bare', decide: () => 'allow' }, [])).toStrictEqual(everything);
  });
});
