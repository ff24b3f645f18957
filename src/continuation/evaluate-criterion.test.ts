import { describe, expect, test } from 'vitest';
import { SteplineError } from '../lib/index.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import type { ContinuationCriterion } from './criterion.ts';
import type { Answer } from './built-in-criterion.ts';
import { evaluateCriterion, listCriterion } from './evaluate-criterion.ts';

// What somebody without types can hand over.
const asUntyped = (criterion: object): ContinuationCriterion<undefined> => criterion as ContinuationCriterion<undefined>;
const ask = (criterion: ContinuationCriterion<undefined>): Answer =>
  evaluateCriterion(listCriterion(criterion, criterion.name), { state: undefined, findings: {}, numbers: [] });
const getFailure = (criterion: object): CriterionFailedError => {
  try {
    ask(asUntyped(criterion));
  } catch (error) {
    if (error instanceof CriterionFailedError) return error;
    throw error;
  }
  throw new Error('the criterion was accepted');
};

const badAnswers: readonly (readonly [string, unknown, string])[] = [
  ['true', true, 'true'],
  ['false', false, 'false'],
  ['an unknown word', 'continue', '"continue"'],
  ['an empty text', '', '""'],
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a number', 1, '1'],
  ['a list', ['forbid'], '["forbid"]'],
  ['an object', { allow: true }, '{"allow":true}'],
  ['a promise', Promise.resolve('allow'), 'a promise (criteria are synchronous: do the waiting before judging)'],
];

describe('an answer that is none', () => {
  test.each(badAnswers)('decide() gives %s', (_name, answer, words) => {
    const error = getFailure({ name: 'Odd', decide: () => answer });
    expect(error.criterion).toBe('Odd');
    expect(error.message).toBe(`Criterion "Odd" failed: it returned ${words}. Return forbid, allow, request or stop.`);
  });

  test.each([
    ...badAnswers,
    ['a bare decision', 'forbid', '"forbid"'],
    ['an evaluation without decision', { criterion: 'Odd', reason: 'x' }, '{"criterion":"Odd","reason":"x"}'],
    ['an evaluation with an unknown decision', { decision: 'no' }, '{"decision":"no"}'],
  ] as const)('explain() gives %s', (_name, answer, words) => {
    const error = getFailure({ name: 'Odd', explain: () => answer });
    expect(error.message).toBe(
      `Criterion "Odd" failed: it returned ${words}. Return an evaluation {criterion, decision, reason, stopReason?, limit?, atLimit?, context} of data that can be stored.`,
    );
  });

  test('a promise that rejects later does not disturb the process', async () => {
    // Vitest fails the run when a rejection goes unheard.
    const late = (): Promise<never> => Promise.reject(new Error('late'));
    expect(getFailure({ name: 'Odd', decide: late }).message).toContain('a promise');
    expect(getFailure({ name: 'Odd', explain: late }).message).toContain('a promise');
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
});

describe('a criterion that throws', () => {
  test('comes out as an error that names it and keeps the cause', () => {
    const cause = new TypeError('state.usage is undefined');
    const error = getFailure({
      name: 'Budget',
      decide: () => {
        throw cause;
      },
    });
    expect(error).toMatchObject({ name: 'CriterionFailedError', code: 'criterion-failed', criterion: 'Budget' });
    expect(error.message).toBe('Criterion "Budget" failed: state.usage is undefined');
    expect(error.cause).toBe(cause);
    expect(SteplineError.is(error)).toBe(true);
  });

  test.each([
    ['a string', 'boom', 'boom'],
    ['undefined', undefined, 'undefined'],
    ['an object without prototype', Object.create(null), '{}'],
    ['an error without words', new RangeError(''), 'RangeError'],
  ])('may throw %s', (_name, thrown: unknown, words) => {
    const error = getFailure({
      name: 'Odd',
      explain: () => {
        throw thrown;
      },
    });
    expect(error.message).toBe(`Criterion "Odd" failed: ${words}`);
  });
});

test('this of decide and explain is the criterion', () => {
  class Own {
    readonly name = 'Own';
    readonly #answer = 'request' as const;
    decide(): 'request' {
      return this.#answer;
    }
  }
  expect(ask(new Own())).toMatchObject({ decision: 'request' });
});
