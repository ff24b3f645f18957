import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../lib/index.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import type { ExplainedDecision } from './when.ts';
import { stopWhen, when } from './when.ts';

interface State {
  readonly count: number;
}

describe('when', () => {
  test.each([
    ['forbid', 'Rule forbade continuation'],
    ['allow', 'Rule permits continuation'],
    ['request', 'Rule requested continuation'],
    ['stop', 'Rule allows stop'],
  ] as const)('a function that returns %s is a criterion with a default reason', (decision, reason) => {
    expect(when('Rule', () => decision).explain({})).toStrictEqual({ criterion: 'Rule', decision, reason, context: {} });
    expect(when('Rule', () => ({ decision })).explain({})).toStrictEqual({ criterion: 'Rule', decision, reason, context: {} });
  });

  test('a function may explain as much as it cares to', () => {
    const rule = when<State>('Rule', ({ count }) => ({
      decision: 'forbid',
      reason: 'too many',
      stopReason: 'token_limit',
      context: { count },
    }));
    expect(rule.explain({ count: 7 })).toStrictEqual({
      criterion: 'Rule',
      decision: 'forbid',
      reason: 'too many',
      stopReason: 'token_limit',
      context: { count: 7 },
    });
    expect(when('Rule', () => ({ decision: 'forbid', stopReason: 'error' })).explain({}).stopReason).toBe('error');
  });

  test('what is given as undefined counts as not given, and what nobody asked for is dropped', () => {
    const loose = { decision: 'allow', reason: undefined, stopReason: undefined, context: undefined, criterion: 'Other', limit: 'steps' };
    const answer = when('Rule', () => loose as unknown as ExplainedDecision).explain({});
    expect(answer).toStrictEqual({ criterion: 'Rule', decision: 'allow', reason: 'Rule permits continuation', context: {} });
  });

  test('the context is brought into the form that is stored', () => {
    const loose = { at: new Date(0), gone: undefined, share: Number.NaN } as unknown as JsonObject;
    const rule = when<object>('Rule', () => ({ decision: 'allow', context: loose }));
    expect(ContinuationCriteria.from(rule).evaluate({}).getEvaluationFor('Rule')?.context).toStrictEqual({
      at: '1970-01-01T00:00:00.000Z',
      share: null,
    });
  });

  test.each([
    ['a Map inside', { seen: new Map() }],
    ['no object', ['a list']],
  ])('a context that cannot be stored is refused: %s', (_name, context) => {
    const criteria = ContinuationCriteria.from(
      when<State>('Rule', () => ({ decision: 'allow', context: context as unknown as JsonObject })),
    );
    expect(() => criteria.evaluate({ count: 0 })).toThrow(CriterionFailedError);
    expect(() => criteria.evaluate({ count: 0 })).toThrow('of data that can be stored');
  });

  test('several keep their names apart in the trace (C15)', () => {
    const outcome = ContinuationCriteria.from<State>(
      when('First', () => 'allow'),
      when('Second', () => 'forbid'),
    ).evaluate({ count: 0 });
    expect(outcome.getEvaluationFor('First')?.decision).toBe('allow');
    expect(outcome).toMatchObject({ resolvedBy: 'Second', stopReason: 'guard' });
  });

  test.each([
    ['true', true],
    ['false', false],
    ['a promise', Promise.resolve('allow')],
    ['an unknown word', 'go'],
    ['an empty text', ''],
    ['null', null],
    ['undefined', undefined],
    ['an explanation without decision', { reason: 'x' }],
    ['an explanation with a boolean', { decision: true }],
    ['a list', ['allow']],
  ])('%s is no answer', (_name, answer) => {
    const rule = when<State>('Rule', () => answer as ContinuationDecision);
    expect(() => rule.explain({ count: 0 })).toThrow(CriterionFailedError);
    expect(() => ContinuationCriteria.from(rule).evaluate({ count: 0 })).toThrow(
      expect.objectContaining({ code: 'criterion-failed', criterion: 'Rule' }),
    );
  });
});

describe('stopWhen', () => {
  test('words are the reason to stop', () => {
    expect(stopWhen('Guard', () => 'the budget is spent').explain({})).toStrictEqual({
      criterion: 'Guard',
      decision: 'forbid',
      reason: 'the budget is spent',
      stopReason: 'guard',
      context: {},
    });
  });

  test.each([false, undefined] as const)('%s lets the run go on', (answer) => {
    expect(stopWhen('Guard', () => answer).explain({})).toStrictEqual({
      criterion: 'Guard',
      decision: 'allow',
      reason: 'Guard permits continuation',
      context: {},
    });
  });

  test('reads the state', () => {
    const guard = stopWhen<State>('Guard', ({ count }) => count > 2 && `${count} is too many`);
    expect(guard.explain({ count: 2 }).decision).toBe('allow');
    expect(guard.explain({ count: 3 })).toMatchObject({ decision: 'forbid', reason: '3 is too many' });
  });

  test.each([
    ['true', true, 'it returned true.'],
    ['an empty text', '', 'it returned "".'],
    ['null', null, 'it returned null.'],
    ['0', 0, 'it returned 0.'],
    ['a promise', Promise.resolve('x'), 'a promise (criteria are synchronous'],
    ['an object', { decision: 'forbid' }, 'it returned {"decision":"forbid"}.'],
  ])('%s is no answer', (_name, answer, words) => {
    const guard = stopWhen<State>('Guard', () => answer as unknown as string);
    expect(() => guard.explain({ count: 0 })).toThrow(CriterionFailedError);
    expect(() => guard.explain({ count: 0 })).toThrow(words);
    expect(() => ContinuationCriteria.from(guard).evaluate({ count: 0 })).toThrow(expect.objectContaining({ criterion: 'Guard' }));
  });

  test('a promise that rejects later does not disturb the process', async () => {
    const guard = stopWhen<State>('Guard', () => Promise.reject(new Error('late')) as unknown as string);
    expect(() => guard.explain({ count: 0 })).toThrow('a promise');
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
});
