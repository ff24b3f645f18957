import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError } from '../lib/index.ts';
import type { ContinuationEvaluation } from './index.ts';
import { ContinuationDecision, ContinuationOutcome, LimitKind, readOutcome, StopReason, writeOutcome } from './index.ts';

const numRuns = pickRuns({ quick: 1000, slow: 10_000 });

const evaluation = (reason: string, context: JsonObject, more: Partial<ContinuationEvaluation> = {}): ContinuationEvaluation => ({
  criterion: 'Watch',
  decision: 'allow',
  reason,
  context,
  ...more,
});
const toOutcome = (...evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome =>
  ContinuationOutcome.fromEvaluations(evaluations);
const throughJson = (value: Json): unknown => JSON.parse(JSON.stringify(value));
/** As a store does it: both are read again, and the later one is written against the earlier. */
function reread(outcome: ContinuationOutcome, before?: ContinuationOutcome): ContinuationOutcome {
  const earlier = before === undefined ? undefined : ContinuationOutcome.fromJSON(throughJson(before.toJSON()));
  return readOutcome(throughJson(writeOutcome(outcome, before)), 'outcome', earlier);
}

// Few names, numbers and words, so that neighbours often have some of them in common.
const key = fc.constantFrom('steps', 'max', '0', '7', '-', '__proto__', 'constructor', 'toString', 'ü');
const number = fc.oneof(
  fc.nat(12),
  fc.constantFrom(1e21, 1.5e-7, 0.1, 2.25, 2.3, 12.04, -3, -0.5, 1234567.89, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
);
const leaf: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom('7', '2.3', 'text', '', null, true, false) },
);
const entries = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Readonly<Record<string, Value>>> =>
  fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 4 }).map((pairs) => Object.fromEntries(pairs));
const nested: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }) },
  { weight: 1, arbitrary: entries(leaf) },
);
const context: fc.Arbitrary<JsonObject> = entries(nested);

const tenths = (value: number): number => Math.round(value * 10) / 10;
/** Reasons that show the context's numbers, other numbers, or none. */
const shapes: readonly ((values: readonly Json[]) => string)[] = [
  () => 'nobody asked to stop',
  (values) => values.filter((value) => typeof value === 'number').join(' of '),
  (values) => values.flatMap((value) => (typeof value === 'number' ? [`${tenths(value)} s`] : [])).join(' of '),
  (values) => `rule 7 of 12: ${values.filter((value) => typeof value === 'number').join('-')}.5`,
  (values) => values.map((value) => JSON.stringify(value)).join(''),
  (values) => `v${values.length}.0 ${JSON.stringify(values[0] ?? 0)}${JSON.stringify(values[0] ?? 0)}`,
];
const reasoned = fc
  .tuple(context, fc.constantFrom(...shapes), fc.option(fc.string(), { nil: undefined, freq: 6 }))
  .map(([values, shape, words]) => ({ context: values, reason: words ?? shape(Object.values(values)) }));
const anyEvaluation: fc.Arbitrary<ContinuationEvaluation> = fc
  .record({
    criterion: fc.constantFrom('A', 'B', 'C', '7', '__proto__', '-'),
    decision: fc.constantFrom(...Object.values(ContinuationDecision)),
    said: reasoned,
    stopReason: fc.option(fc.constantFrom(...Object.values(StopReason)), { nil: undefined }),
    limit: fc.option(fc.constantFrom(...Object.values(LimitKind)), { nil: undefined }),
  })
  .map(({ criterion, decision, said, stopReason, limit }) => ({
    criterion,
    decision,
    ...said,
    ...(stopReason !== undefined && { stopReason }),
    ...(limit !== undefined && { limit }),
  }));

/** The same criterion one step later: the same form of words, other numbers under the same names. */
const createNext = (first: ContinuationEvaluation): fc.Arbitrary<ContinuationEvaluation> =>
  fc
    .tuple(
      fc.constantFrom(...shapes),
      fc.array(nested, { minLength: 5, maxLength: 5 }),
      fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    )
    .map(([shape, values, changes]) => {
      const changed = Object.entries(first.context).map(
        ([name, value], index) => [name, changes[index] === true ? values[index]! : value] as const,
      );
      const later: JsonObject = Object.fromEntries(changed);
      return { ...first, context: later, reason: shape(Object.values(later)) };
    });
const fromBefore = (list: readonly ContinuationEvaluation[]): fc.Arbitrary<readonly ContinuationEvaluation[]> =>
  fc
    .tuple(
      ...list.map((each) =>
        fc.oneof({ weight: 4, arbitrary: createNext(each) }, { weight: 3, arbitrary: fc.constant(each) }, anyEvaluation),
      ),
    )
    .chain((later) =>
      fc.oneof(
        { weight: 5, arbitrary: fc.constant(later) },
        fc.constant(later.toReversed()),
        fc.constant(later.slice(1)),
        fc.constant(later.slice(0, -1)),
        anyEvaluation.map((more) => [...later, more]),
        anyEvaluation.map((more) => [more, ...later]),
      ),
    );
const pair = fc
  .array(anyEvaluation, { maxLength: 4 })
  .chain((before) => fc.tuple(fc.constant(before), fc.oneof(fromBefore(before), fc.array(anyEvaluation, { maxLength: 5 }))));

describe('K1: an outcome that was written is read as the same outcome', () => {
  test('whatever it says, and whatever was said before', () => {
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const [earlier, outcome] = [toOutcome(...before), toOutcome(...after)];
        expect(JSON.stringify(reread(outcome, earlier))).toBe(JSON.stringify(outcome));
        expect(JSON.stringify(reread(outcome))).toBe(JSON.stringify(outcome));
        expect(JSON.stringify(reread(earlier, outcome))).toBe(JSON.stringify(earlier));
        expect(JSON.stringify(reread(outcome, outcome))).toBe(JSON.stringify(outcome));
        expect(reread(outcome, earlier).explain()).toBe(outcome.explain());
      }),
      { numRuns },
    );
  });

  test('writing reads both and changes neither', () => {
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const [earlier, outcome] = [toOutcome(...before), toOutcome(...after)];
        const texts = [JSON.stringify(earlier), JSON.stringify(outcome)];
        reread(outcome, earlier);
        expect([JSON.stringify(earlier), JSON.stringify(outcome)]).toStrictEqual(texts);
      }),
      { numRuns: 200 },
    );
  });

  test('a chain of outcomes, each against the one that was read before it', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyEvaluation, { minLength: 1, maxLength: 3 })
          .chain((first) => fc.array(fromBefore(first), { minLength: 2, maxLength: 6 })),
        (lists) => {
          const outcomes = lists.map((list) => toOutcome(...list));
          const written = outcomes.map((outcome, index) => writeOutcome(outcome, outcomes[index - 1]));
          let last: ContinuationOutcome | undefined;
          const read = written.map((each) => (last = readOutcome(throughJson(each), 'outcome', last)));
          expect(JSON.stringify(read)).toBe(JSON.stringify(outcomes));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each<[string, ContinuationEvaluation, ContinuationEvaluation]>([
    ['equal numbers under two keys that part', evaluation('1 of 1', { used: 1, max: 1 }), evaluation('2 of 1', { used: 2, max: 1 })],
    ['numbers that meet', evaluation('1 of 2', { used: 1, max: 2 }), evaluation('2 of 2', { used: 2, max: 2 })],
    ['numbers that trade places', evaluation('1 of 2', { a: 1, b: 2 }), evaluation('2 of 1', { a: 2, b: 1 })],
    ['equal text under two keys', evaluation('x and x', { a: 'x', b: 'x' }), evaluation('y and x', { a: 'y', b: 'x' })],
    ['a number that becomes text', evaluation('7 left', { left: 7 }), evaluation('none left', { left: 'none' })],
    ['a number that becomes null', evaluation('7 left', { left: 7 }), evaluation(' left', { left: null })],
    ['decimals shown to one', evaluation('0.1 s of 300 s', { s: 0.12, max: 300 }), evaluation('2 s of 300 s', { s: 1.96, max: 300 })],
    ['a large number', evaluation('1e+21 of 5', { n: 1e21, max: 5 }), evaluation('1e+22 of 5', { n: 1e22, max: 5 })],
    ['a number below zero', evaluation('-3 left', { left: -3 }), evaluation('-4 left', { left: -4 })],
    ['digits that are no context’s', evaluation('rule 7: 3', { n: 3 }), evaluation('rule 8: 3', { n: 3 })],
    ['digits that are a context’s by chance', evaluation('rule 3: 3', { n: 3 }), evaluation('rule 3: 4', { n: 4 })],
    ['keys in another order', evaluation('1 of 2', { a: 1, b: 2 }), evaluation('1 of 2', { b: 2, a: 1 })],
    ['a key that is gone', evaluation('1 of 2', { a: 1, b: 2 }), evaluation('1 of 2', { a: 1 })],
    ['words that are a pattern of their own', evaluation('$& 1 $1', { n: 1 }), evaluation('$& 2 $1', { n: 2 })],
    ['text that looks like a pattern in the context', evaluation('1', { n: 1 }), evaluation('$&', { n: '$&' })],
    ['another criterion', evaluation('x', {}), evaluation('x', {}, { criterion: 'Other' })],
    ['another decision', evaluation('x', {}), evaluation('x', {}, { decision: 'stop' })],
    ['a reason to stop', evaluation('x', {}), evaluation('x', {}, { stopReason: 'guard' })],
    ['another reason to stop', evaluation('x', {}, { stopReason: 'guard' }), evaluation('x', {}, { stopReason: 'error' })],
    ['a limit', evaluation('x', {}), evaluation('x', {}, { limit: 'steps' })],
    ['another limit', evaluation('x', {}, { limit: 'wall' }), evaluation('x', {}, { limit: 'steps' })],
  ])('%s', (_, before, after) => {
    const [earlier, outcome] = [toOutcome(before), toOutcome(after)];
    expect(JSON.stringify(reread(outcome, earlier))).toBe(JSON.stringify(outcome));
    expect(JSON.stringify(reread(earlier, outcome))).toBe(JSON.stringify(earlier));
  });

  test('keys inside a value in another order: they say the same', () => {
    const [before, after] = [toOutcome(evaluation('x', { n: { a: 1, b: 2 } })), toOutcome(evaluation('x', { n: { b: 2, a: 1 } }))];
    expect(writeOutcome(after, before)).toStrictEqual({ decision: 'request' });
    expect(reread(after, before).toJSON()).toStrictEqual(after.toJSON());
  });

  test('one that does not follow from its evaluations', () => {
    const kept = ContinuationOutcome.fromJSON({ ...toOutcome(evaluation('x', {})).toJSON(), resolvedBy: 'somebody else' });
    expect(reread(kept, toOutcome(evaluation('x', {}))).toJSON()).toStrictEqual(kept.toJSON());
    expect(reread(toOutcome(evaluation('x', {})), kept).resolvedBy).toBe('aggregate');
  });

  test('one that nobody had a say in, after one that somebody had', () => {
    const [some, none] = [toOutcome(evaluation('x', {})), ContinuationOutcome.empty()];
    expect(reread(none, some).toJSON()).toStrictEqual(none.toJSON());
    expect(reread(some, none).toJSON()).toStrictEqual(some.toJSON());
    expect(reread(none).toJSON()).toStrictEqual(none.toJSON());
  });
});

describe('what has not changed is not written', () => {
  const usual = (steps: number): ContinuationOutcome =>
    toOutcome(
      evaluation('nobody asked to stop', {}, { criterion: 'StopRequested' }),
      evaluation('nothing failed', { consecutiveFailures: 0, maxRetries: 2 }, { criterion: 'ErrorPolicyCriterion' }),
      evaluation(`${steps} of 20 steps used`, { currentSteps: steps, maxSteps: 20 }, { criterion: 'StepsLimit', limit: 'steps' }),
      evaluation(
        `${steps * 1234} of 500000 tokens used`,
        { currentUsage: steps * 1234, maxTokens: 500_000 },
        { criterion: 'Tokens', limit: 'tokens' },
      ),
      evaluation(
        `${tenths(steps * 1.26)} s of 300 s of run time used`,
        { elapsedSeconds: steps * 1.26, maxSeconds: 300 },
        { criterion: 'Wall' },
      ),
      evaluation('there is work', { hasToolCalls: true }, { criterion: 'ToolCallPresenceCheck', decision: 'request' }),
    );

  test('a usual step says which reasons and numbers are new, by the name of the criterion', () => {
    expect(writeOutcome(usual(3), usual(2))).toStrictEqual({
      decision: 'request',
      evaluations: {
        StepsLimit: { reason: '3 of 20 steps used', context: { currentSteps: 3 } },
        Tokens: { reason: '3702 of 500000 tokens used', context: { currentUsage: 3702 } },
        Wall: { reason: '3.8 s of 300 s of run time used', context: { elapsedSeconds: 3.7800000000000002 } },
      },
    });
  });

  test('a usual step takes the bytes of its new reasons, whatever its number', () => {
    for (let steps = 2; steps < 20; steps += 1) {
      expect(JSON.stringify(writeOutcome(usual(steps), usual(steps - 1))).length).toBeLessThanOrEqual(310);
    }
  });

  test('criteria are named once, in their order, until they are others', () => {
    const names = ['StopRequested', 'ErrorPolicyCriterion', 'StepsLimit', 'Tokens', 'Wall', 'ToolCallPresenceCheck'];
    const more = toOutcome(...usual(3).evaluations, evaluation('seen', {}, { criterion: 'Vote' }));
    expect(writeOutcome(usual(2))['criteria']).toStrictEqual(names);
    expect(writeOutcome(usual(3), usual(2))['criteria']).toBeUndefined();
    expect(writeOutcome(more, usual(3))).toStrictEqual({
      decision: 'request',
      criteria: [...names, 'Vote'],
      evaluations: { Vote: { decision: 'allow', reason: 'seen' } },
    });
    expect(writeOutcome(usual(3), more)).toStrictEqual({ decision: 'request', criteria: names });
  });

  test('the same outcome takes its decision and nothing else', () => {
    expect(writeOutcome(usual(3), usual(3))).toStrictEqual({ decision: 'request' });
  });

  test('K2: a reason is stored as the text that was shown', () => {
    const [before, after] = [toOutcome(evaluation('1 used', { n: 1 })), toOutcome(evaluation('2 used up', { n: 2 }))];
    expect(writeOutcome(after, before)).toStrictEqual({
      decision: 'request',
      evaluations: { Watch: { reason: '2 used up', context: { n: 2 } } },
    });
    const cited = ['1 of 20', '2 of 20', '3 of 20'].map((reason, index) => toOutcome(evaluation(reason, { n: index + 1, max: 20 })));
    for (const [index, outcome] of cited.entries())
      expect(JSON.stringify(writeOutcome(outcome, cited[index - 1]))).toContain(`"reason":"${index + 1} of 20"`);
  });

  test('a stop says why and by whom', () => {
    const end = toOutcome(...usual(3).evaluations.slice(0, -1), evaluation('no calls', {}, { criterion: 'Calls', decision: 'stop' }));
    expect(writeOutcome(end, usual(3))).toMatchObject({ decision: 'stop', resolvedBy: 'Calls', stopReason: 'completed' });
  });

  test('two evaluations of one name are written as a list, whole', () => {
    const outcome = toOutcome(evaluation('x', {}), evaluation('y', {}));
    expect(writeOutcome(outcome, outcome)).toStrictEqual(outcome.toJSON());
  });
});

describe('damage is refused, with its place', () => {
  const before = toOutcome(evaluation('1 of 2', { a: 1, b: 2 }), evaluation('x', {}, { criterion: 'Other' }));
  const decision = 'request';
  const whole = { decision: 'allow', reason: 'y' };

  test.each<[string, unknown, ContinuationOutcome | undefined, string]>([
    ['nothing', undefined, before, 'outcome'],
    ['null', null, before, 'outcome'],
    ['text', 'on', before, 'outcome'],
    ['a number', 0, before, 'outcome'],
    ['a list', [], before, 'outcome'],
    ['no decision', {}, before, 'outcome.decision'],
    ['a decision that is none', { decision: 'maybe' }, before, 'outcome.decision'],
    ['another decision than the evaluations add up to', { decision: 'stop' }, before, 'outcome.decision'],
    ['half an outcome with a list', { decision, evaluations: [] }, before, 'outcome.shouldContinue'],
    ['no criteria, and none before it', { decision }, undefined, 'outcome.criteria'],
    ['a name that is none', { decision, criteria: ['Watch', 7] }, before, 'outcome.criteria[1]'],
    ['the same as none before it', { decision, criteria: ['Watch'] }, undefined, 'outcome.evaluations.Watch'],
    [
      'changes of none before it',
      { decision, criteria: ['Watch'], evaluations: { Watch: { reason: 'y' } } },
      undefined,
      'outcome.evaluations.Watch',
    ],
    ['one more than there were', { decision, criteria: ['Watch', 'Third'] }, before, 'outcome.evaluations.Third'],
    ['an evaluation of a criterion that is not named', { decision, evaluations: { Third: whole } }, before, 'outcome.evaluations.Third'],
    ['an evaluation that is text', { decision, evaluations: { Watch: 'same' } }, before, 'outcome.evaluations.Watch'],
    ['an evaluation that is a number', { decision, evaluations: { Watch: 1 } }, before, 'outcome.evaluations.Watch'],
    ['a reason that is a number', { decision, evaluations: { Watch: { reason: 1 } } }, before, 'outcome.evaluations.Watch.reason'],
    ['half an evaluation', { decision, evaluations: { Watch: { decision: 'allow' } } }, before, 'outcome.evaluations.Watch.reason'],
  ])('%s', (_, stored, earlier, path) => {
    expect(() => readOutcome(stored, 'outcome', earlier)).toThrow(DamagedDataError);
    expect(() => readOutcome(stored, 'outcome', earlier)).toThrow(expect.objectContaining({ path }) as Error);
  });

  test('any JSON at all is read or refused, and never stumbled over', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (stored) => {
        try {
          expect(readOutcome(stored, 'outcome', before)).toBeInstanceOf(ContinuationOutcome);
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedDataError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
