import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ErrorContext, ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import { canContinueWith, ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { ErrorPolicyCriterion } from './criteria/error-policy-criterion.ts';
import { StepsLimit } from './criteria/steps-limit.ts';
import type { ContinuationCriterion, CanDecideToContinue, CanExplainContinuation } from './criterion.ts';
import { stopWhen, when } from './when.ts';

interface State {
  readonly steps: number;
}

const start: State = { steps: 0 };
const decides = (name: string, decision: ContinuationDecision): CanDecideToContinue<State> => ({ name, decide: () => decision });
const [forbids, requests, allows, letsGo] = [
  decides('forbids', 'forbid'),
  decides('requests', 'request'),
  decides('allows', 'allow'),
  decides('letsGo', 'stop'),
];

function permutations<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

describe('the truth table, in every order of the criteria', () => {
  // Behaviour 1.2, with decisions C01, C04 and C10 applied.
  test.each([
    [1, [], 'stop', false, 'ContinuationCriteria', 'completed'],
    [2, [letsGo], 'stop', false, 'letsGo', 'completed'],
    [3, [allows], 'request', true, 'aggregate', undefined],
    [4, [allows, letsGo], 'stop', false, 'letsGo', 'completed'],
    [5, [requests], 'request', true, 'requests', undefined],
    [6, [requests, letsGo], 'request', true, 'requests', undefined],
    [7, [requests, allows], 'request', true, 'requests', undefined],
    [8, [requests, allows, letsGo], 'request', true, 'requests', undefined],
    [9, [forbids], 'forbid', false, 'forbids', 'guard'],
    [10, [forbids, letsGo], 'forbid', false, 'forbids', 'guard'],
    [11, [forbids, allows], 'forbid', false, 'forbids', 'guard'],
    [12, [forbids, allows, letsGo], 'forbid', false, 'forbids', 'guard'],
    [13, [forbids, requests], 'forbid', false, 'forbids', 'guard'],
    [14, [forbids, requests, letsGo], 'forbid', false, 'forbids', 'guard'],
    [15, [forbids, requests, allows], 'forbid', false, 'forbids', 'guard'],
    [16, [forbids, requests, allows, letsGo], 'forbid', false, 'forbids', 'guard'],
  ] as const)('row %i', (_row, criteria, decision, shouldContinue, resolvedBy, stopReason) => {
    for (const order of permutations<CanDecideToContinue<State>>(criteria)) {
      const given = ContinuationCriteria.from(...order);
      const outcome = given.evaluate(start);
      expect(outcome).toMatchObject({ decision, shouldContinue, resolvedBy, stopReason });
      expect(outcome.evaluations.map(({ criterion }) => criterion)).toStrictEqual(order.map(({ name }) => name));
      expect(given.canContinue(start)).toBe(shouldContinue);
      expect(given.decide(start)).toBe(decision);
    }
  });

  test('evaluate, canContinue and decide agree for any list and any shuffle of it', () => {
    const decision = fc.constantFrom(...Object.values(ContinuationDecision));
    const lists = fc.array(decision, { maxLength: 9 }).map((list) => list.map((one, index) => decides(`${one}-${index}`, one)));
    const withShuffle = lists.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(withShuffle, ([list, shuffled]) => {
        const goesOn = canContinueWith(...list.map((criterion) => criterion.decide(start)));
        for (const order of [list, shuffled]) {
          const criteria = ContinuationCriteria.from(...order);
          const outcome = criteria.evaluate(start);
          expect(outcome.shouldContinue).toBe(goesOn);
          expect(criteria.canContinue(start)).toBe(goesOn);
          expect(criteria.decide(start)).toBe(outcome.decision);
          expect(outcome.evaluations.map(({ criterion }) => criterion)).toStrictEqual(criteria.names);
          expect(outcome.getForbiddingCriterion()).toBe(order.find(({ name }) => name.startsWith('forbid'))?.name);
        }
      }),
    );
  });

  test('where several are of the decisive rank, the first in the list is named', () => {
    const joinNames = (...criteria: readonly ContinuationCriterion<State>[]): string =>
      ContinuationCriteria.from(...criteria).evaluate(start).resolvedBy;
    for (const decision of ['forbid', 'request', 'stop'] as const) {
      const [one, two] = [decides('one', decision), decides('two', decision)];
      expect(joinNames(allows, one, two)).toBe('one');
      expect(joinNames(two, one, allows)).toBe('two');
    }
    expect(joinNames(allows, decides('also allows', 'allow'))).toBe('aggregate');
  });
});

describe('asking', () => {
  test('everybody is asked every time, once, in the order of the list, whoever forbids', () => {
    for (const order of permutations(['forbid', 'request', 'allow', 'stop'] as const)) {
      const asked: string[] = [];
      const criteria = order.map((decision): CanDecideToContinue<State> => ({
        name: decision,
        decide: () => {
          asked.push(decision);
          return decision;
        },
      }));
      ContinuationCriteria.from(...criteria).evaluate(start);
      expect(asked).toStrictEqual(order);
    }
  });

  test('a criterion that can explain is asked to explain and to nothing else', () => {
    const explaining: CanExplainContinuation<State> & { decide(): never } = {
      name: 'both',
      decide: () => {
        throw new Error('decide was asked');
      },
      explain: ({ steps }) => ({ criterion: 'both', decision: 'request', reason: 'work', context: { steps } }),
    };
    const outcome = ContinuationCriteria.from(explaining).evaluate({ steps: 4 });
    expect(outcome.evaluations).toStrictEqual([{ criterion: 'both', decision: 'request', reason: 'work', context: { steps: 4 } }]);
  });

  test('a criterion that gives a bare decision gets a default reason', () => {
    expect(ContinuationCriteria.from(forbids).evaluate(start).evaluations).toStrictEqual([
      { criterion: 'forbids', decision: 'forbid', reason: 'forbids forbade continuation', context: {} },
    ]);
  });

  test('the state is handed over as it is', () => {
    const seen: unknown[] = [];
    const state: State = Object.freeze({ steps: 1 });
    const criterion = when<State>('sees', (given) => {
      seen.push(given);
      return 'stop';
    });
    ContinuationCriteria.from(criterion).evaluate(state);
    expect(seen[0]).toBe(state);
  });

  test('the same state gets the same outcome', () => {
    const criteria = ContinuationCriteria.from<State>(new StepsLimit(3, ({ steps }) => steps), requests);
    expect(criteria.evaluate({ steps: 2 })).toStrictEqual(criteria.evaluate({ steps: 2 }));
  });
});

describe('votes cast before judging', () => {
  const vote = (decision: ContinuationDecision): ContinuationEvaluation => ({ criterion: 'critic', decision, reason: 'seen', context: {} });

  test.each([
    ['forbid', [requests], { decision: 'forbid', resolvedBy: 'critic' }],
    ['request', [letsGo], { decision: 'request', resolvedBy: 'critic' }],
    ['stop', [allows], { decision: 'stop', resolvedBy: 'critic' }],
    ['allow', [], { decision: 'request', resolvedBy: 'aggregate' }],
    ['stop', [], { decision: 'stop', resolvedBy: 'critic' }],
    ['forbid', [forbids], { decision: 'forbid', resolvedBy: 'forbids' }],
  ] as const)('%s counts like any other answer, after the criteria', (decision, criteria, expected) => {
    const outcome = ContinuationCriteria.from<State>(...criteria).evaluate(start, { evaluations: [vote(decision)] });
    expect(outcome).toMatchObject(expected);
    expect(outcome.evaluations.at(-1)).toStrictEqual(vote(decision));
    expect(outcome.evaluations).toHaveLength(criteria.length + 1);
  });
});

describe('the collection', () => {
  test('withCriteria appends to a new collection and leaves the old one', () => {
    const old = ContinuationCriteria.from(allows);
    const longer = old.withCriteria(requests, forbids);
    expect(longer.names).toStrictEqual(['allows', 'requests', 'forbids']);
    expect(old.names).toStrictEqual(['allows']);
    expect(old.canContinue(start)).toBe(true);
    expect(longer.canContinue(start)).toBe(false);
  });

  test('knows whether it is empty', () => {
    expect(ContinuationCriteria.from().isEmpty).toBe(true);
    expect(ContinuationCriteria.from(allows).isEmpty).toBe(false);
    expect(ContinuationCriteria.from<State>().withCriteria(allows).isEmpty).toBe(false);
  });

  test.each([
    ['without a name', { decide: (): string => 'allow' }, 'Criterion 2 has no name'],
    ['with an empty name', { name: '', decide: (): string => 'allow' }, 'Criterion 2 has no name'],
    ['without decide and explain', { name: 'Mute' }, 'Criterion "Mute" has neither decide() nor explain().'],
    ['that is a function', function isDone(): void {}, 'Criterion "isDone" has neither'],
    ['that is undefined', undefined, 'Criterion 2 has no name'],
    ['that is null', null, 'Criterion 2 has no name'],
  ])('refuses a criterion %s', (_name, bad, message) => {
    const criterion = bad as unknown as ContinuationCriterion<State>;
    expect(() => ContinuationCriteria.from(allows, criterion)).toThrow(InvalidArgumentError);
    expect(() => ContinuationCriteria.from(allows).withCriteria(criterion)).toThrow(message);
  });
});

describe('remaining time', () => {
  const createTimedCriterion = (name: string, remaining: number | undefined): CanDecideToContinue<State> => ({
    name,
    decide: () => 'allow',
    remainingMs: () => remaining,
  });

  test.each([
    [[], undefined],
    [[allows], undefined],
    [[createTimedCriterion('a', undefined)], undefined],
    [[allows, createTimedCriterion('a', 500)], 500],
    [[createTimedCriterion('a', 500), createTimedCriterion('b', 20), createTimedCriterion('c', 700)], 20],
    [[createTimedCriterion('a', 0), createTimedCriterion('b', undefined)], 0],
    [[createTimedCriterion('a', -3), createTimedCriterion('b', 4)], -3],
  ])('is the shortest that anybody leaves', (criteria, expected) => {
    expect(ContinuationCriteria.from<State>(...criteria).remainingMs(start)).toBe(expected);
    expect(ContinuationCriteria.from<State>(...criteria.toReversed()).remainingMs(start)).toBe(expected);
  });

  test('is seen through a nested collection', () => {
    const inner = ContinuationCriteria.from(createTimedCriterion('a', 40));
    expect(ContinuationCriteria.from(createTimedCriterion('b', 70), inner.asCriterion('inner')).remainingMs(start)).toBe(40);
    expect(ContinuationCriteria.from(ContinuationCriteria.from(allows).asCriterion('inner')).remainingMs(start)).toBeUndefined();
  });
});

describe('a collection as one criterion of another', () => {
  const evaluateNested = (...criteria: readonly ContinuationCriterion<State>[]): ContinuationEvaluation =>
    ContinuationCriteria.from(...criteria)
      .asCriterion('inner')
      .explain(start);
  const limited = new StepsLimit<State>(0, ({ steps }) => steps);

  test.each([
    ['only allows: allows, not requests (C14)', [allows, allows], 'allow', 'none of 2 criteria was decisive', 'aggregate'],
    ['requests', [allows, requests, letsGo], 'request', 'requests: requests requested continuation', 'requests'],
    ['lets go', [allows, letsGo], 'stop', 'letsGo: letsGo allows stop', 'letsGo'],
    ['holds nothing: lets go', [], 'stop', 'there were no criteria to ask', 'ContinuationCriteria'],
  ] as const)('one that %s', (_name, criteria, decision, reason, resolvedBy) => {
    expect(evaluateNested(...criteria)).toStrictEqual({
      criterion: 'inner',
      decision,
      reason,
      context: { criteriaCount: criteria.length, resolvedBy },
    });
  });

  test('one that forbids keeps the reason, the stop reason and the limit', () => {
    expect(evaluateNested(allows, limited)).toStrictEqual({
      criterion: 'inner',
      decision: 'forbid',
      reason: 'StepsLimit: 0 of 0 steps used, limit reached',
      stopReason: 'steps_limit',
      limit: 'steps',
      context: { criteriaCount: 2, resolvedBy: 'StepsLimit' },
    });
    expect(evaluateNested(forbids)).toMatchObject({ decision: 'forbid', stopReason: 'guard' });
  });

  test('one that pauses at a limit still pauses', () => {
    const pausing = new StepsLimit<State>(0, ({ steps }) => steps, { onLimit: () => 'pause' });
    expect(evaluateNested(allows, pausing)).toMatchObject({ decision: 'forbid', limit: 'steps', atLimit: 'pause' });
  });

  test.each([
    ['a guard forbids beside the limit', [limited, forbids]],
    ['somebody asks for more', [limited, requests]],
  ] as const)('is no mere limit where %s', (_name, criteria) => {
    expect(evaluateNested(...criteria)).toMatchObject({ decision: 'forbid', stopReason: 'steps_limit' });
    expect(evaluateNested(...criteria)).not.toHaveProperty('limit');
    const outer = ContinuationCriteria.from(ContinuationCriteria.from<State>(...criteria).asCriterion('inner'), letsGo);
    expect(outer.evaluate(start).finishedAtLimit).toBe(false);
  });

  test('names the answer that decided, with its number if two criteria have the same name', () => {
    const [high, low] = [new StepsLimit<State>(20, ({ steps }) => steps), new StepsLimit<State>(0, ({ steps }) => steps)];
    const forbidden = { decision: 'forbid', limit: 'steps' };
    expect(evaluateNested(high, low)).toMatchObject({ ...forbidden, reason: 'StepsLimit#2: 0 of 0 steps used, limit reached' });
    expect(evaluateNested(low, high)).toMatchObject({ ...forbidden, reason: 'StepsLimit: 0 of 0 steps used, limit reached' });
  });

  test('is not misled by a criterion that is called "aggregate"', () => {
    expect(evaluateNested(decides('aggregate', 'request'), allows)).toMatchObject({ decision: 'request' });
    expect(evaluateNested(decides('aggregate', 'allow'), allows)).toMatchObject({ decision: 'allow' });
  });

  test('decides as its criteria would have decided in its place', () => {
    const all = [forbids, requests, allows, letsGo] as const;
    const subsets = fc.subarray([...all]);
    fc.assert(
      fc.property(subsets, fc.subarray([...all], { minLength: 1 }), (outside, inside) => {
        const inner = ContinuationCriteria.from(...inside);
        const flat = ContinuationCriteria.from(...outside, ...inside);
        const deep = ContinuationCriteria.from(...outside, inner.asCriterion('inner'));
        expect(deep.canContinue(start)).toBe(flat.canContinue(start));
      }),
    );
  });

  test('nests as deep as one likes', () => {
    const deep = ContinuationCriteria.from(
      ContinuationCriteria.from(stopWhen<State>('Guard', () => 'enough')).asCriterion('inner'),
    ).asCriterion('outer');
    expect(deep.explain(start)).toMatchObject({ decision: 'forbid', reason: 'inner: Guard: enough', stopReason: 'guard' });
  });

  test('a criterion that fails inside is named, not the collection', () => {
    const failing = when<State>('Broken', () => {
      throw new Error('no');
    });
    const outer = ContinuationCriteria.from(ContinuationCriteria.from(failing).asCriterion('inner'));
    expect(() => outer.evaluate(start)).toThrow(expect.objectContaining({ code: 'criterion-failed', criterion: 'Broken' }));
  });
});

test.each([
  ['no reason', { criterion: 'Mine', decision: 'allow', context: {} }],
  ['no name', { decision: 'allow', reason: 'fine', context: {} }],
  ['no context', { criterion: 'Mine', decision: 'allow', reason: 'fine' }],
  ['an unknown limit', { criterion: 'Mine', decision: 'allow', reason: 'fine', limit: 'calls', context: {} }],
  ['a context that is no JSON', { criterion: 'Mine', decision: 'allow', reason: 'fine', context: { seen: new Map() } }],
  ['the name of another', { criterion: 'StepsLimit', decision: 'allow', reason: 'fine', context: {} }],
  ['an unknown stop reason', { criterion: 'Mine', decision: 'forbid', reason: 'no', stopReason: 'bored', context: {} }],
])('an explanation with %s is refused: it could not be read again once stored', (_, evaluation) => {
  const criterion = { name: 'Mine', explain: () => evaluation as ContinuationEvaluation };
  expect(() => ContinuationCriteria.from(criterion).evaluate({})).toThrow(/"Mine" failed: it returned/);
});

test('a vote that is no evaluation is refused as well, and named', () => {
  // Holds because this is what a hook without types can cast.
  const vote = { criterion: 'Hook', decision: 'maybe', reason: 'who knows', context: {} } as unknown as ContinuationEvaluation;
  expect(() => ContinuationCriteria.from().evaluate({}, { evaluations: [vote] })).toThrow(/Criterion "Hook" failed/);
  expect(() => ContinuationCriteria.from().evaluate({}, { evaluations: [null as unknown as ContinuationEvaluation] })).toThrow(
    /Criterion "an evaluation" failed/,
  );
});

test('a criterion that uses its context object again cannot rewrite what was recorded', () => {
  const context = { seen: 0 };
  const counting: CanExplainContinuation<number> = {
    name: 'Counting',
    explain: (state) => ({ criterion: 'Counting', decision: 'allow', reason: 'counted', context: Object.assign(context, { seen: state }) }),
  };
  const criteria = ContinuationCriteria.from(counting);
  const first = criteria.evaluate(1);
  expect(() => criteria.evaluate(2)).toThrow(/Criterion "Counting" failed/);
  expect(first.evaluations[0]?.context).toEqual({ seen: 1 });
});

test('the error policy of a collection is that of the first criterion that has one, also when nested', () => {
  const policy = ErrorPolicy.retryAll(2);
  const criterion = new ErrorPolicyCriterion(policy, { resolve: () => ErrorContext.none() });
  const criteria = ContinuationCriteria.from(new StepsLimit(3, () => 0), criterion);
  expect(criteria.errorPolicy).toBe(policy);
  expect(ContinuationCriteria.from(criteria.asCriterion('Nested')).errorPolicy).toBe(policy);
  expect(ContinuationCriteria.from(new StepsLimit(3, () => 0)).errorPolicy).toBeUndefined();
});
