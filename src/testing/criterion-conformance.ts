import type { ContinuationCriterion, ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationCriteria } from '../continuation/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same, storable } from './conformance.ts';

/** What every criterion must do on every state it may meet: answer, at once, the same each time, and touch nothing. */
export function criterionConformance<State>(criterion: ContinuationCriterion<State>, states: readonly State[]): readonly ConformanceCase[] {
  const criteria = ContinuationCriteria.from(criterion);
  const answer = (state: State): ContinuationEvaluation | undefined => criteria.evaluate(state).evaluations[0];
  const onEach = (check: (state: State) => void) => () => {
    holds(states.length > 0, 'give at least one state to judge');
    states.forEach(check);
  };
  return [
    {
      name: `${criterion.name} answers in its own name`,
      run: onEach((state) => {
        same(answer(state)?.criterion, criterion.name, 'name');
      }),
    },
    {
      name: `${criterion.name} gives the same state the same answer`,
      run: onEach((state) => {
        same(answer(state), answer(state), 'second answer');
      }),
    },
    {
      name: `${criterion.name} leaves the state as it was`,
      run: onEach((state) => {
        const before = JSON.stringify(state);
        answer(state);
        holds(JSON.stringify(state) === before, 'the state was changed by judging it');
      }),
    },
    {
      name: `${criterion.name} answers with data that can be stored`,
      run: onEach((state) => {
        storable(answer(state), 'the answer');
      }),
    },
  ];
}
