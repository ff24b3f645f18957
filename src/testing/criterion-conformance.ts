import type { ContinuationCriterion, ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationCriteria } from '../continuation/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same, storable } from './conformance.ts';

/** Promises that every criterion must keep on every state: it answers at once, the same each time, and changes nothing. */
export function criterionConformance<State>(criterion: ContinuationCriterion<State>, states: readonly State[]): readonly ConformanceCase[] {
  const criteria = ContinuationCriteria.from(criterion);
  const evaluate = (state: State): ContinuationEvaluation | undefined => criteria.evaluate(state).evaluations[0];
  const checks: Readonly<Record<string, (state: State) => void>> = {
    'answers in its own name': (state) => same(evaluate(state)?.criterion, criterion.name, 'name'),
    'gives the same state the same answer': (state) => same(evaluate(state), evaluate(state), 'second answer'),
    'leaves the state as it was': (state) => {
      const before = JSON.stringify(state);
      evaluate(state);
      holds(JSON.stringify(state) === before, 'the state was changed by judging it');
    },
    'answers with data that can be stored': (state) => storable(evaluate(state), 'the answer'),
  };
  return Object.entries(checks).map(([name, check]) => ({
    name: `${criterion.name} ${name}`,
    run: () => {
      holds(states.length > 0, 'give at least one state to judge');
      states.forEach(check);
    },
  }));
}
