import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, InvalidArgumentError } from '../lib/index.ts';
import { canContinueWith, ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { LimitKind } from './continuation-evaluation.ts';
import type { OutcomeFields } from './continuation-outcome.ts';
import { ContinuationOutcome } from './continuation-outcome.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import { StopReason } from './stop-reason.ts';

type Extra = Partial<Pick<ContinuationEvaluation, 'stopReason' | 'limit' | 'context' | 'reason'>>;

const evaluation = (criterion: string, decision: ContinuationDecision, extra: Extra = {}): ContinuationEvaluation => ({
  criterion,
  decision,
  reason: `because of ${criterion}`,
  context: {},
  ...extra,
});
const forbid = (name: string, extra: Extra = {}): ContinuationEvaluation => evaluation(name, 'forbid', extra);
const request = (name: string): ContinuationEvaluation => evaluation(name, 'request');
const allow = (name: string): ContinuationEvaluation => evaluation(name, 'allow');
const stop = (name: string): ContinuationEvaluation => evaluation(name, 'stop');
const toOutcome = (...evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome =>
  ContinuationOutcome.fromEvaluations(evaluations);

const anyEvaluation: fc.Arbitrary<ContinuationEvaluation> = fc
  .record(
    {
      criterion: fc.string({ minLength: 1 }),
      decision: fc.constantFrom(...Object.values(ContinuationDecision)),
      reason: fc.string(),
      context: fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject),
      stopReason: fc.constantFrom(...Object.values(StopReason)),
      limit: fc.constantFrom(...Object.values(LimitKind)),
    },
    { requiredKeys: ['criterion', 'decision', 'reason', 'context'], noNullPrototype: true },
  )
  .map((fields) => fields as ContinuationEvaluation);

/** The specification, written the slow way. */
function expectedOutcome(evaluations: readonly ContinuationEvaluation[]): object {
  const first = (decision: ContinuationDecision): ContinuationEvaluation | undefined =>
    evaluations.find((one) => one.decision === decision);
  const [forbidding, requesting, stopping] = [first('forbid'), first('request'), first('stop')];
  if (evaluations.length === 0) {
    return { decision: 'stop', shouldContinue: false, resolvedBy: 'ContinuationCriteria', stopReason: 'completed' };
  }
  if (forbidding !== undefined) {
    const stopReason = forbidding.stopReason ?? 'guard';
    return { decision: 'forbid', shouldContinue: false, resolvedBy: forbidding.criterion, stopReason };
  }
  if (requesting !== undefined || stopping === undefined) {
    return { decision: 'request', shouldContinue: true, resolvedBy: requesting?.criterion ?? 'aggregate', stopReason: undefined };
  }
  return { decision: 'stop', shouldContinue: false, resolvedBy: stopping.criterion, stopReason: 'completed' };
}

describe('resolving', () => {
  test('whatever the answers and their order, the outcome is the one of the specification', () => {
    const lists = fc.array(anyEvaluation, { maxLength: 8 });
    const withShuffle = lists.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(withShuffle, ([list, shuffled]) => {
        const [outcome, other] = [toOutcome(...list), toOutcome(...shuffled)];
        expect(outcome).toMatchObject(expectedOutcome(list));
        expect(other).toMatchObject(expectedOutcome(shuffled));
        expect(outcome.evaluations).toStrictEqual(list);
        expect(outcome.shouldContinue).toBe(canContinueWith(...list.map(({ decision }) => decision)));
        expect(other.shouldContinue).toBe(outcome.shouldContinue);
        expect(other.decision).toBe(outcome.decision);
      }),
    );
  });

  test('an explicit stop reason wins; a forbid without one is a guard (C05)', () => {
    expect(toOutcome(forbid('StepsLimit', { stopReason: 'user_requested' })).stopReason).toBe('user_requested');
    expect(toOutcome(forbid('StepsLimit')).stopReason).toBe('guard');
  });

  test('the stop reason of anybody but the first forbidder counts for nothing', () => {
    const outcome = toOutcome(
      evaluation('Odd', 'stop', { stopReason: 'error' }),
      forbid('First'),
      forbid('Second', { stopReason: 'error' }),
    );
    expect(outcome).toMatchObject({ decision: 'forbid', resolvedBy: 'First', stopReason: 'guard' });
    expect(toOutcome(evaluation('Odd', 'stop', { stopReason: 'error' })).stopReason).toBe('completed');
  });

  test('with nobody to ask: stop, completed, no evaluations (C04)', () => {
    const expected = {
      decision: 'stop',
      shouldContinue: false,
      resolvedBy: 'ContinuationCriteria',
      stopReason: 'completed',
      evaluations: [],
    };
    expect(ContinuationOutcome.empty().toJSON()).toStrictEqual(expected);
    expect(toOutcome().toJSON()).toStrictEqual(expected);
  });
});

describe('reading an outcome', () => {
  const outcome = toOutcome(allow('A'), forbid('B', { reason: 'first B' }), forbid('B', { reason: 'second B' }), forbid('C'));

  test('finds the first answer of a criterion', () => {
    expect(outcome.getEvaluationFor('B')?.reason).toBe('first B');
    expect(outcome.getEvaluationFor('A')?.decision).toBe('allow');
    expect(outcome.getEvaluationFor('nobody')).toBeUndefined();
  });

  test('names the first criterion that forbade', () => {
    expect(outcome.getForbiddingCriterion()).toBe('B');
    expect(toOutcome(stop('A'), request('B')).getForbiddingCriterion()).toBeUndefined();
    expect(ContinuationOutcome.empty().getForbiddingCriterion()).toBeUndefined();
  });

  test.each([
    ['forbidden', outcome, true],
    ['completed', toOutcome(stop('A')), false],
    ['going on', toOutcome(request('A')), false],
    ['empty', ContinuationOutcome.empty(), false],
  ])('says whether it was forbidden: %s', (_name, given, expected) => {
    expect(given.isForbidden).toBe(expected);
  });
});

describe('finished in the very step that reached a limit', () => {
  const steps = forbid('StepsLimit', { limit: 'steps', stopReason: 'steps_limit' });
  const tokens = forbid('TokenUsageLimit', { limit: 'tokens', stopReason: 'token_limit' });
  const guard = forbid('Guard');

  test.each([
    ['a limit forbids and somebody lets go', [steps, allow('A'), stop('Work')], true],
    ['several limits forbid and somebody lets go', [steps, tokens, stop('Work')], true],
    ['a limit forbids and nobody lets go', [steps, allow('A')], false],
    ['a limit forbids and somebody asks for more', [steps, stop('Work'), request('Retry')], false],
    ['a guard forbids beside the limit', [steps, guard, stop('Work')], false],
    ['only a guard forbids', [guard, stop('Work')], false],
    ['nobody forbids', [allow('StepsLimit'), stop('Work')], false],
    ['nobody was asked', [], false],
  ])('%s', (_name, evaluations, expected) => {
    expect(toOutcome(...evaluations).finishedAtLimit).toBe(expected);
    expect(toOutcome(...evaluations.toReversed()).finishedAtLimit).toBe(expected);
  });

  test.each(Object.values(LimitKind))('the limit may be one of %s', (limit) => {
    expect(toOutcome(forbid('Limit', { limit }), stop('Work')).finishedAtLimit).toBe(true);
  });
});

describe('an outcome does not change', () => {
  test('it and its list are frozen', () => {
    const outcome = toOutcome(allow('A'));
    expect(Object.isFrozen(outcome)).toBe(true);
    expect(Object.isFrozen(outcome.evaluations)).toBe(true);
    expect(Object.isFrozen(ContinuationOutcome.empty().evaluations)).toBe(true);
    expect(Object.isFrozen(ContinuationOutcome.fromJSON(outcome.toJSON()).evaluations)).toBe(true);
  });

  test('the list it was made from stays its owner’s, and later additions do not reach it', () => {
    const given = [allow('A')];
    const outcome = ContinuationOutcome.fromEvaluations(given);
    given.push(forbid('B'));
    expect(outcome.evaluations).toStrictEqual([allow('A')]);
    expect(outcome.getForbiddingCriterion()).toBeUndefined();
  });
});

describe('when judging itself failed', () => {
  test('the outcome stops with error and names the criterion', () => {
    const outcome = ContinuationOutcome.fromEvaluationError(new CriterionFailedError('Budget', 'no price list'));
    const message = 'Criterion "Budget" failed: no price list';
    expect(outcome.toJSON()).toStrictEqual({
      decision: 'forbid',
      shouldContinue: false,
      resolvedBy: 'ContinuationCriteria',
      stopReason: 'error',
      evaluations: [
        {
          criterion: 'ContinuationCriteria',
          decision: 'forbid',
          reason: `Evaluation failed: ${message}`,
          stopReason: 'error',
          context: { criterion: 'Budget', error: 'CriterionFailedError', message },
        },
      ],
    });
    expect(outcome.isForbidden).toBe(true);
    expect(outcome.finishedAtLimit).toBe(false);
  });

  test.each([
    ['an error without words gives its name', new RangeError(''), 'RangeError', 'RangeError'],
    ['any other error gives its message', new TypeError('x is not a function'), 'TypeError', 'x is not a function'],
    ['a thrown string is kept', 'boom', 'string', 'boom'],
    ['undefined says so', undefined, 'undefined', 'undefined'],
  ])('%s', (_name, thrown, error, message) => {
    const [only] = ContinuationOutcome.fromEvaluationError(thrown).evaluations;
    expect(only).toMatchObject({ reason: `Evaluation failed: ${message}`, context: { error, message } });
  });
});

describe('as JSON', () => {
  const stored = {
    decision: 'forbid',
    shouldContinue: false,
    resolvedBy: 'StepsLimit',
    stopReason: 'steps_limit',
    evaluations: [
      {
        criterion: 'StepsLimit',
        decision: 'forbid',
        reason: '20 of 20 steps used, limit reached',
        stopReason: 'steps_limit',
        limit: 'steps',
        context: { currentSteps: 20, maxSteps: 20 },
      },
      { criterion: 'Own', decision: 'allow', reason: 'fine', context: {} },
    ],
  } as const;

  test('it has exactly the documented keys, in their order', () => {
    const [first, second] = stored.evaluations;
    const outcome = toOutcome(first, second);
    expect(outcome.toJSON()).toStrictEqual(stored);
    expect(JSON.stringify(outcome)).toBe(JSON.stringify(stored));
  });

  test('it comes back the same, whatever was in it', () => {
    fc.assert(
      fc.property(fc.array(anyEvaluation, { maxLength: 6 }), (evaluations) => {
        const outcome = ContinuationOutcome.fromEvaluations(evaluations);
        const restored = ContinuationOutcome.fromJSON(JSON.parse(JSON.stringify(outcome)));
        expect(restored).toStrictEqual(outcome);
        expect(JSON.stringify(restored)).toBe(JSON.stringify(outcome));
      }),
    );
  });

  test('what was stored stands, even where it would be resolved otherwise today (C04)', () => {
    const old = { ...stored, resolvedBy: 'aggregate', decision: 'stop' };
    expect(ContinuationOutcome.fromJSON(old)).toMatchObject({ resolvedBy: 'aggregate', decision: 'stop' });
  });

  test.each([
    ['decision', { ...stored, decision: 'maybe' }, 'outcome.decision'],
    ['decision', { ...stored, decision: undefined }, 'outcome.decision'],
    ['shouldContinue', { ...stored, shouldContinue: 'false' }, 'outcome.shouldContinue'],
    ['resolvedBy', { ...stored, resolvedBy: null }, 'outcome.resolvedBy'],
    ['stopReason', { ...stored, stopReason: 'tired' }, 'outcome.stopReason'],
    ['evaluations', { ...stored, evaluations: undefined }, 'outcome.evaluations'],
    ['evaluations', { ...stored, evaluations: {} }, 'outcome.evaluations'],
    [
      'an evaluation',
      { ...stored, evaluations: [stored.evaluations[0], { criterion: 'x', reason: '' }] },
      'outcome.evaluations[1].decision',
    ],
    ['everything', null, 'outcome'],
    ['everything', [], 'outcome'],
  ])('it is refused with the place of the damage: %s', (_name, input, path) => {
    expect(() => ContinuationOutcome.fromJSON(input)).toThrow(DamagedDataError);
    expect(() => ContinuationOutcome.fromJSON(input)).toThrow(expect.objectContaining({ path }));
  });

  test.each([
    ['forbid', true],
    ['stop', true],
    ['request', false],
  ])('it is refused where decision %s and shouldContinue %s contradict each other', (decision, shouldContinue) => {
    expect(() => ContinuationOutcome.fromJSON({ ...stored, decision, shouldContinue })).toThrow(DamagedDataError);
    expect(() => ContinuationOutcome.fromJSON({ ...stored, decision, shouldContinue })).toThrow('contradict each other');
  });

  test('the path begins where the reader says', () => {
    expect(() => ContinuationOutcome.fromJSON({}, 'stepResults[2].outcome')).toThrow(
      expect.objectContaining({ path: 'stepResults[2].outcome.decision' }),
    );
  });
});

describe('the constructor', () => {
  const forbids: ContinuationEvaluation = { criterion: 'Limit', decision: 'forbid', reason: 'enough', context: {} };
  const requests: ContinuationEvaluation = { criterion: 'Work', decision: 'request', reason: 'more to do', context: {} };

  test.each<readonly [string, OutcomeFields, string]>([
    [
      'a continuing outcome with a stop reason',
      { decision: 'request', resolvedBy: 'Work', stopReason: 'completed', evaluations: [] },
      'has no stop reason',
    ],
    ['a stopping outcome without one', { decision: 'forbid', resolvedBy: 'Limit', evaluations: [] }, 'there is no stop reason'],
    ['a mere permission', { decision: 'allow', resolvedBy: 'aggregate', evaluations: [] }, 'never allow'],
    [
      'going on although a criterion forbids',
      { decision: 'request', resolvedBy: 'Work', evaluations: [requests, forbids] },
      'its evaluations add up to',
    ],
    [
      'a stop although work is requested',
      { decision: 'stop', resolvedBy: 'Done', stopReason: 'completed', evaluations: [requests] },
      'its evaluations add up to',
    ],
    [
      'a criterion that did not decide',
      { decision: 'forbid', resolvedBy: 'Work', stopReason: 'guard', evaluations: [requests, forbids] },
      'are resolved by Limit, not by Work',
    ],
    [
      'a stop reason of another kind',
      { decision: 'forbid', resolvedBy: 'Limit', stopReason: 'completed', evaluations: [forbids] },
      'stop with "guard", not with "completed"',
    ],
    // Holds because this is what a caller without types can give.
    [
      'an unknown stop reason',
      { decision: 'stop', resolvedBy: 'Done', stopReason: 'tired' as StopReason, evaluations: [] },
      'no stop reason "tired"',
    ],
  ])('refuses %s', (_name, fields, message) => {
    expect(() => new ContinuationOutcome(fields)).toThrow(InvalidArgumentError);
    expect(() => new ContinuationOutcome(fields)).toThrow(message);
  });

  test('takes the five parts of the documents', () => {
    const fields = { decision: 'forbid', shouldContinue: false, resolvedBy: 'Limit', stopReason: 'guard', evaluations: [forbids] } as const;
    expect(new ContinuationOutcome(fields).toJSON()).toStrictEqual({ ...fields, evaluations: [forbids] });
    const going = { decision: 'request', shouldContinue: true, resolvedBy: 'Work', evaluations: [requests] } as const;
    expect(new ContinuationOutcome(going)).toMatchObject({ shouldContinue: true, stopReason: undefined });
  });

  const parts = { decision: 'forbid', shouldContinue: false, resolvedBy: 'Limit', stopReason: 'guard', evaluations: [forbids] };
  test.each([
    ['no parts', undefined, 'needs an object, not undefined'],
    ['nothing in them', {}, 'decision must be forbid, request or stop, not undefined'],
    ['an unknown decision', { ...parts, decision: 'perhaps' }, 'not "perhaps"'],
    ['a flag that is not a boolean', { ...parts, shouldContinue: 'no' }, 'shouldContinue must be true or false, not "no"'],
    ['a flag against the decision', { ...parts, shouldContinue: true }, 'decision "forbid" and shouldContinue true do not go together'],
    ['nobody who decided', { ...parts, resolvedBy: undefined }, 'resolvedBy must be the name of a criterion, not undefined'],
    ['no evaluations', { ...parts, evaluations: undefined }, 'evaluations must be a list of evaluations, not undefined'],
    ['an empty evaluation', { ...parts, evaluations: [forbids, {}] }, 'evaluation 2: reason must be a string, not undefined'],
    ['an unknown part', { ...parts, reason: 'x' }, 'Unknown option "reason"'],
  ])('refuses %s', (_name, fields, message) => {
    // Holds because this is what a caller without types can give.
    const make = () => new ContinuationOutcome(fields as unknown as ConstructorParameters<typeof ContinuationOutcome>[0]);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });

  test('refuses to add up what are not evaluations', () => {
    // Holds because this is what a caller without types can give.
    const nonsense = [{ criterion: 'Mine' }] as unknown as readonly ContinuationEvaluation[];
    expect(() => ContinuationOutcome.fromEvaluations(nonsense)).toThrow(InvalidArgumentError);
  });

  test('makes what the evaluations resolve to', () => {
    const made = new ContinuationOutcome({
      decision: 'forbid',
      resolvedBy: 'Limit',
      stopReason: 'guard',
      evaluations: [requests, forbids],
    });
    expect(made).toStrictEqual(ContinuationOutcome.fromEvaluations([requests, forbids]));
    expect(made).toBeInstanceOf(ContinuationOutcome);
  });

  test('writes a continuing outcome with a stop reason of null, and reads it again', () => {
    const going = ContinuationOutcome.fromEvaluations([requests]);
    expect(going.toJSON()).toMatchObject({ shouldContinue: true, stopReason: null });
    expect(ContinuationOutcome.fromJSON(going.toJSON())).toStrictEqual(going);
  });
});
