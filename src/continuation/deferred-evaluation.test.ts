import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { ContinuationCriteria } from './continuation-criteria.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { findEndingEvaluation } from './continuation-outcome.ts';
import { CostLimit } from './criteria/cost-limit.ts';
import { CumulativeExecutionTimeLimit } from './criteria/cumulative-execution-time-limit.ts';
import { ExecutionTimeLimit } from './criteria/execution-time-limit.ts';
import { StepsLimit } from './criteria/steps-limit.ts';
import { TokenUsageLimit } from './criteria/token-usage-limit.ts';
import { ToolCallPresenceCheck } from './criteria/tool-call-presence-check.ts';
import { findDecisiveEvaluation } from './resolve-evaluations.ts';

interface Counts {
  used: number;
  unknownCalls: number;
  granted: number;
}

const options = { granted: ({ granted }: Counts) => granted };
const limits = [
  new StepsLimit<Counts>(10, ({ used }) => used, options),
  new TokenUsageLimit<Counts>(
    10,
    ({ used, unknownCalls }) => ({ input: used, output: 0, total: used, ...(unknownCalls > 0 && { unknownCalls }) }),
    options,
  ),
  new CostLimit<Counts>(10, ({ used: usd, unknownCalls }) => ({ usd, unknownCalls }), options),
  new CumulativeExecutionTimeLimit<Counts>(10, ({ used }) => used, options),
  new ExecutionTimeLimit<Counts>(10, ({ used }) => -used * 1000, options),
];

const counts = fc.record({
  used: fc.oneof(fc.nat(25), fc.double({ min: 0, max: 25, noNaN: true })),
  unknownCalls: fc.nat(2),
  granted: fc.constantFrom(0, 0, 5),
});

test('an outcome has the evaluations of its criteria, whether a limit is reached, raised or neither', () => {
  fc.assert(
    fc.property(counts, (state) => {
      const { evaluations } = new ContinuationCriteria(...limits).evaluate(state, { now: 0 });
      expect(evaluations).toStrictEqual(limits.map((limit) => limit.explain(state, { now: 0 })));
    }),
  );
});

test('outcomes of one collection do not depend on the states that it judged before', () => {
  const given = { criterion: 'Guard', decision: 'forbid', reason: 'enough', context: {} } as const;
  const judged = fc.record({ state: counts, evaluations: fc.constantFrom(undefined, [given]) });
  fc.assert(
    fc.property(fc.array(judged, { minLength: 2 }), (states) => {
      const shared = new ContinuationCriteria(...limits);
      const outcomes = states.map(({ state, evaluations }) => shared.evaluate(state, { now: 0, evaluations }));
      const fresh = states.map(({ state, evaluations }) => new ContinuationCriteria(...limits).evaluate(state, { now: 0, evaluations }));
      expect(outcomes.map((outcome) => outcome.toJSON())).toStrictEqual(fresh.map((outcome) => outcome.toJSON()));
      expect(outcomes.map(({ isFinalizing }) => isFinalizing)).toStrictEqual(fresh.map(({ isFinalizing }) => isFinalizing));
    }),
  );
});

describe('a deferred evaluation', () => {
  test('has the numbers of the state that was judged', () => {
    const state = { used: 3, unknownCalls: 0, granted: 0 };
    const outcome = new ContinuationCriteria(...limits).evaluate(state, { now: 0 });
    state.used = 99;
    state.granted = 5;
    expect(outcome.evaluations.map(({ reason }) => reason)).toStrictEqual([
      '3 of 10 steps used',
      '3 of 10 tokens used',
      '3 of 10 US dollars spent',
      '3 s of 10 s of active time used',
      '3 s of 10 s of run time used',
    ]);
  });

  test('is written once, and cannot be changed', () => {
    const outcome = new ContinuationCriteria(...limits).evaluate({ used: 3, unknownCalls: 0, granted: 0 }, { now: 0 });
    expect(outcome.evaluations).toBe(outcome.evaluations);
    expect(Object.isFrozen(outcome.evaluations)).toBe(true);
    expect(outcome.evaluations.every((evaluation) => Object.isFrozen(evaluation) && Object.isFrozen(evaluation.context))).toBe(true);
  });

  test('is a normal field when outcomes are listed, copied or compared', () => {
    const judge = (used: number) => new ContinuationCriteria(...limits).evaluate({ used, unknownCalls: 0, granted: 0 }, { now: 0 });
    expect(Object.keys(judge(3))).toContain('evaluations');
    expect({ ...judge(3) }.evaluations).toHaveLength(limits.length);
    expect(judge(3)).toEqual(judge(3));
    expect(judge(3)).not.toEqual(judge(4));
  });

  test('is not written to find the one that ended a run', () => {
    let written = 0;
    class CountedLimit extends StepsLimit<Counts> {
      override allow(used: number, max: number): ContinuationEvaluation {
        written += 1;
        return super.allow(used, max);
      }
    }
    const criteria = new ContinuationCriteria(new CountedLimit(10, ({ used }) => used), new ToolCallPresenceCheck<Counts>(() => false));
    const outcome = criteria.evaluate({ used: 1, unknownCalls: 0, granted: 0 });
    expect(findEndingEvaluation(outcome)).toMatchObject({ criterion: 'ToolCallPresenceCheck', decision: 'stop' });
    expect(written).toBe(0);
    expect(findEndingEvaluation(outcome)).toBe(findDecisiveEvaluation(outcome));
    expect(written).toBe(1);
  });

  test('uses the explanation of a subclass that overrides it', () => {
    class PoliteLimit extends StepsLimit<Counts> {
      override explain(state: Counts): ContinuationEvaluation {
        return { ...super.explain(state), reason: 'please go on' };
      }
    }
    const outcome = new ContinuationCriteria(new PoliteLimit(10, ({ used }) => used)).evaluate({ used: 1, unknownCalls: 0, granted: 0 });
    expect(outcome.evaluations.map(({ reason }) => reason)).toStrictEqual(['please go on']);
  });
});
