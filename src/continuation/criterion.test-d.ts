import { expectTypeOf, test } from 'vitest';
import type { FailureState } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import type { ContinuationOutcome } from './continuation-outcome.ts';
import { StepsLimit } from './criteria/steps-limit.ts';
import { ErrorPolicyCriterion } from './criteria/error-policy-criterion.ts';
import type { CanDecideToContinue, CanExplainContinuation, ContinuationCriterion } from './criterion.ts';
import { stopWhen, when } from './when.ts';

interface State {
  readonly count: number;
}

test('a criterion decides or explains', () => {
  const deciding = { name: 'Deciding', decide: ({ count }: State): ContinuationDecision => (count > 3 ? 'stop' : 'request') };
  const explaining = {
    name: 'Explaining',
    explain: ({ count }: State): ContinuationEvaluation => ({ criterion: 'Explaining', decision: 'allow', reason: '', context: { count } }),
  };
  expectTypeOf(deciding).toExtend<ContinuationCriterion<State>>();
  expectTypeOf(explaining).toExtend<ContinuationCriterion<State>>();
});

test('a class may implement both, with the type of its state or without', () => {
  class Both implements CanDecideToContinue<State>, CanExplainContinuation<State> {
    readonly name = 'Both';
    decide(state: State): ContinuationDecision {
      return this.explain(state).decision;
    }
    explain({ count }: State): ContinuationEvaluation {
      return { criterion: this.name, decision: count > 3 ? 'forbid' : 'allow', reason: '', context: { count } };
    }
  }
  class AsInTheDocuments implements CanDecideToContinue, CanExplainContinuation {
    readonly name = 'AsInTheDocuments';
    decide(state: State): ContinuationDecision {
      return this.explain(state).decision;
    }
    explain({ count }: State): ContinuationEvaluation {
      return { criterion: this.name, decision: count > 3 ? 'forbid' : 'allow', reason: '', context: { count } };
    }
  }
  expectTypeOf(ContinuationCriteria.from(new Both(), new AsInTheDocuments())).toEqualTypeOf<ContinuationCriteria<State>>();
});

test('the built-in criteria decide and explain', () => {
  const policy = ErrorPolicyCriterion.withPolicy(ErrorPolicy.stopOnAnyError());
  expectTypeOf(policy).toExtend<CanDecideToContinue<FailureState>>();
  expectTypeOf(policy).toExtend<CanExplainContinuation<FailureState>>();
  expectTypeOf<StepsLimit<State>>().toExtend<CanDecideToContinue<State> & CanExplainContinuation<State>>();
});

test('a criterion that does neither is a type error', () => {
  // @ts-expect-error -- neither decide nor explain
  const mute: ContinuationCriterion<State> = { name: 'Mute' };
});

test('a criterion without a name is a type error', () => {
  // @ts-expect-error -- no name
  const nameless: ContinuationCriterion<State> = { decide: () => 'allow' };
});

test('a promise is no answer', () => {
  // @ts-expect-error -- criteria are synchronous
  const late: ContinuationCriterion<State> = { name: 'Late', decide: async () => 'allow' };
  // @ts-expect-error -- criteria are synchronous
  when<State>('Late', async () => 'allow');
  // @ts-expect-error -- criteria are synchronous
  stopWhen<State>('Late', async () => 'enough');
});

test('a boolean is no answer of when()', () => {
  // @ts-expect-error -- a boolean does not say which of the four it means
  when<State>('Flag', ({ count }) => count > 3);
  // @ts-expect-error -- nor inside an explanation
  when<State>('Flag', ({ count }) => ({ decision: count > 3 }));
  // @ts-expect-error -- no such decision
  when<State>('Word', () => 'continue');
  // @ts-expect-error -- no such stop reason
  when<State>('Reason', () => ({ decision: 'forbid', stopReason: 'tired' }));
});

test('true is no answer of stopWhen(): it wants the reason in words', () => {
  // @ts-expect-error -- true gives no reason
  stopWhen<State>('Flag', ({ count }) => count > 3);
  expectTypeOf(stopWhen<State>('Words', ({ count }) => count > 3 && 'too many')).toEqualTypeOf<CanExplainContinuation<State>>();
});

test('the state type can be passed or inferred', () => {
  expectTypeOf(when<State>('Passed', () => 'allow')).toEqualTypeOf<CanExplainContinuation<State>>();
  expectTypeOf(when('Inferred', ({ count }: State) => (count > 3 ? 'stop' : 'allow'))).toEqualTypeOf<CanExplainContinuation<State>>();
  expectTypeOf(stopWhen('Inferred', ({ count }: State) => count > 3 && 'too many')).toEqualTypeOf<CanExplainContinuation<State>>();

  const inferred = ContinuationCriteria.from(
    new StepsLimit(20, ({ count }: State) => count),
    when('Own', ({ count }: State) => (count > 3 ? 'stop' : 'request')),
  );
  expectTypeOf(inferred).toEqualTypeOf<ContinuationCriteria<State>>();
  const passed = ContinuationCriteria.from<State>(
    new StepsLimit(20, ({ count }) => count),
    stopWhen('Own', ({ count }) => count > 3 && 'too many'),
  );
  expectTypeOf(passed).toEqualTypeOf<ContinuationCriteria<State>>();
});

test('a criterion for another state is a type error', () => {
  const criteria = ContinuationCriteria.from<State>();
  // @ts-expect-error -- this one reads a field that State does not have
  criteria.withCriteria(when('Other', ({ words }: { readonly words: string }) => (words === '' ? 'stop' : 'allow')));
  // @ts-expect-error -- and this is another state
  criteria.evaluate({ words: '' });
  // A criterion that reads less than there is fits.
  criteria.withCriteria(when('Less', (_state: object) => 'allow'));
});

test('evaluate gives the outcome, never a promise', () => {
  const criteria = ContinuationCriteria.from<State>();
  expectTypeOf(criteria.evaluate({ count: 1 })).toEqualTypeOf<ContinuationOutcome>();
  expectTypeOf(criteria.canContinue({ count: 1 })).toEqualTypeOf<boolean>();
  expectTypeOf(criteria.decide({ count: 1 })).toEqualTypeOf<ContinuationDecision>();
});
