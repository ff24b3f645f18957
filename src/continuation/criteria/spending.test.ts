// What limits do beside counting: costs, repeated calls, grants, and what happens when they are reached.
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../lib/index.ts';
import { criterionConformance } from '../../testing/index.ts';
import type { AtLimit, ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { CanExplainContinuation } from '../criterion.ts';
import type { CostSoFar } from './cost-limit.ts';
import { CostLimit } from './cost-limit.ts';
import { CumulativeExecutionTimeLimit } from './cumulative-execution-time-limit.ts';
import { ExecutionTimeLimit } from './execution-time-limit.ts';
import { Finalize } from './finalize.ts';
import type { LimitOptions } from './limit.ts';
import type { RepeatableCall } from './repeated-tool-call.ts';
import { RepeatedToolCall } from './repeated-tool-call.ts';
import { StepsLimit } from './steps-limit.ts';
import { TokenUsageLimit } from './token-usage-limit.ts';

describe('CostLimit', () => {
  interface Row {
    readonly max: number;
    readonly cost: CostSoFar | undefined;
    readonly decision: 'allow' | 'forbid';
    readonly reason: string;
  }

  test.each<Row>([
    { max: 1, cost: undefined, decision: 'allow', reason: '0 of 1 US dollars spent' },
    { max: 1, cost: { usd: 0 }, decision: 'allow', reason: '0 of 1 US dollars spent' },
    { max: 1, cost: { usd: 0.999_94 }, decision: 'allow', reason: '0.9999 of 1 US dollars spent' },
    { max: 1, cost: { usd: 1 }, decision: 'forbid', reason: '1 of 1 US dollars spent, limit reached' },
    { max: 1, cost: { usd: 1.5 }, decision: 'forbid', reason: '1.5 of 1 US dollars spent, limit reached' },
    { max: 0.3, cost: { usd: 0.1 + 0.2 }, decision: 'forbid', reason: '0.3 of 0.3 US dollars spent, limit reached' },
    { max: 0, cost: undefined, decision: 'forbid', reason: '0 of 0 US dollars spent, limit reached' },
    { max: 1, cost: { usd: 0, unknownCalls: 0 }, decision: 'allow', reason: '0 of 1 US dollars spent' },
    { max: 1, cost: { usd: 0, unknownCalls: 1 }, decision: 'allow', reason: '0 of 1 US dollars spent; the cost of 1 call is not known' },
    {
      max: 1,
      cost: { usd: 0.2, unknownCalls: 3 },
      decision: 'allow',
      reason: '0.2 of 1 US dollars spent; the cost of 3 calls is not known',
    },
    {
      max: 1,
      cost: { usd: 2, unknownCalls: 1 },
      decision: 'forbid',
      reason: '2 of 1 US dollars spent, limit reached; the cost of 1 call is not known',
    },
  ])('of $max after $cost: $decision', ({ max, cost, decision, reason }) => {
    const unknownCalls = cost?.unknownCalls ?? 0;
    expect(new CostLimit(max, () => cost).explain({})).toStrictEqual({
      criterion: 'CostLimit',
      decision,
      reason,
      ...(decision === 'forbid' && { stopReason: 'guard' }),
      limit: 'cost',
      context: { currentUsd: cost?.usd ?? 0, maxUsd: max, ...(unknownCalls > 0 && { unknownCalls }) },
    });
  });

  test('says what was granted without the dust of adding fractions', () => {
    const limit = new CostLimit<unknown>(0.1, () => undefined, { granted: () => 0.2 });
    expect(limit.explain({}).reason).toBe('0 of 0.3 US dollars spent (0.1 at first, 0.2 granted)');
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('a limit of %d is refused', (bad) => {
    expect(() => new CostLimit(bad, () => undefined)).toThrow(InvalidArgumentError);
    expect(() => new CostLimit(bad, () => undefined)).toThrow(`maxUsd must be a number of 0 or more, not ${String(bad)}.`);
  });

  test('refuses a cost that is none instead of allowing for ever', () => {
    expect(() => new CostLimit(1, () => ({ usd: Number.NaN })).explain({})).toThrow(
      'The function that reads the cost must return a number, not NaN.',
    );
  });
});

describe('RepeatedToolCall', () => {
  type Steps = readonly (readonly RepeatableCall[])[];
  const a: RepeatableCall = { name: 'search', args: { q: 'tea', page: 1 } };
  const reordered: RepeatableCall = { name: 'search', args: { page: 1, q: 'tea' } };
  const b: RepeatableCall = { name: 'search', args: { q: 'coffee', page: 1 } };
  const c: RepeatableCall = { name: 'find', args: { q: 'tea', page: 1 } };
  const watching = (max: number) => new RepeatedToolCall<Steps>(max, (steps, count) => steps.slice(-count));

  test.each<{ readonly what: string; readonly max: number; readonly steps: Steps; readonly repeated?: RepeatableCall }>([
    { what: 'no step', max: 3, steps: [] },
    { what: 'fewer steps than it watches', max: 3, steps: [[a], [a]] },
    { what: 'the same call in each step', max: 3, steps: [[a], [a], [a]], repeated: a },
    { what: 'the same arguments in another order', max: 3, steps: [[a], [reordered], [a]], repeated: a },
    { what: 'another call between', max: 3, steps: [[a], [b], [a]] },
    { what: 'another tool with the same arguments', max: 2, steps: [[a], [c]] },
    {
      what: 'the same call among others',
      max: 2,
      steps: [
        [b, a],
        [a, c],
      ],
      repeated: a,
    },
    { what: 'the same call twice in one step', max: 2, steps: [[a, a]] },
    { what: 'a step without calls between', max: 3, steps: [[a], [], [a]] },
    { what: 'steps without calls', max: 2, steps: [[], []] },
    { what: 'an older repetition that was left', max: 2, steps: [[a], [a], [b]] },
    { what: 'a repetition after something else', max: 2, steps: [[b], [a], [a]], repeated: a },
  ])('of $max, after $what', ({ max, steps, repeated }) => {
    const criterion = 'RepeatedToolCall';
    expect(watching(max).explain(steps)).toStrictEqual(
      repeated === undefined
        ? {
            criterion,
            decision: 'allow',
            reason: `no tool was called with the same arguments in ${max} steps in a row`,
            context: { maxRepeats: max },
          }
        : {
            criterion,
            decision: 'forbid',
            reason: `search was called with the same arguments in ${max} steps in a row`,
            stopReason: 'guard',
            context: { maxRepeats: max, tool: repeated.name, args: repeated.args },
          },
    );
  });

  test.each([1, 0, -3, 2.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses to watch %d steps', (max) => {
    expect(() => watching(max)).toThrow(InvalidArgumentError);
    expect(() => watching(max)).toThrow(`maxRepeats must be a whole number of 2 or more, not ${String(max)}.`);
  });

  test('asks for no more steps than it watches', () => {
    const asked: number[] = [];
    new RepeatedToolCall<unknown>(4, (_, steps) => {
      asked.push(steps);
      return [];
    }).explain({});
    expect(asked).toStrictEqual([4]);
  });
});

/** Amount used, amount granted on top, and behaviour at the limit; all in its own unit. */
interface Budget {
  readonly used: number;
  readonly granted?: number;
  readonly onLimit?: AtLimit;
}

const options: LimitOptions<Budget> = { granted: ({ granted = 0 }) => granted, onLimit: ({ onLimit = 'stop' }) => onLimit };
const getUsed = ({ used: amount }: Budget): number => amount;

interface LimitRow {
  readonly name: string;
  readonly limit: CanExplainContinuation<Budget>;
  readonly plain: CanExplainContinuation<Budget>;
  readonly stopReason: string;
  readonly kind: string;
  readonly reason: (used: number, max: number) => string;
  readonly context: (used: number, max: number) => object;
}

// Judged at time 0, a run has lasted as long as it began before.
const wall = (budget: Budget): number => -getUsed(budget) * 1000;
const judged = { now: 0 };

const limits: readonly LimitRow[] = [
  {
    name: 'StepsLimit',
    limit: new StepsLimit(10, getUsed, options),
    plain: new StepsLimit(10, getUsed),
    stopReason: 'steps_limit',
    kind: 'steps',
    reason: (amount, max) => `${amount} of ${max} steps used`,
    context: (currentSteps, maxSteps) => ({ currentSteps, maxSteps }),
  },
  {
    name: 'TokenUsageLimit',
    limit: new TokenUsageLimit(10, getUsed, options),
    plain: new TokenUsageLimit(10, getUsed),
    stopReason: 'token_limit',
    kind: 'tokens',
    reason: (amount, max) => `${amount} of ${max} tokens used`,
    context: (currentUsage, maxTokens) => ({ currentUsage, maxTokens }),
  },
  {
    name: 'ExecutionTimeLimit',
    limit: new ExecutionTimeLimit(10, wall, options),
    plain: new ExecutionTimeLimit(10, wall),
    stopReason: 'time_limit',
    kind: 'wall',
    reason: (amount, max) => `${amount} s of ${max} s of run time used`,
    context: (elapsedSeconds, maxSeconds) => ({ elapsedSeconds, maxSeconds }),
  },
  {
    name: 'CumulativeExecutionTimeLimit',
    limit: new CumulativeExecutionTimeLimit(10, getUsed, options),
    plain: new CumulativeExecutionTimeLimit(10, getUsed),
    stopReason: 'time_limit',
    kind: 'active',
    reason: (amount, max) => `${amount} s of ${max} s of active time used`,
    context: (cumulativeSeconds, maxSeconds) => ({ cumulativeSeconds, maxSeconds }),
  },
  {
    name: 'CostLimit',
    limit: new CostLimit(10, (budget) => ({ usd: getUsed(budget) }), options),
    plain: new CostLimit(10, (budget) => ({ usd: getUsed(budget) })),
    stopReason: 'guard',
    kind: 'cost',
    reason: (amount, max) => `${amount} of ${max} US dollars spent`,
    context: (currentUsd, maxUsd) => ({ currentUsd, maxUsd }),
  },
];

describe.each(limits)('$name', ({ name, limit, plain, stopReason, kind, reason, context }) => {
  test.each<readonly [AtLimit, Partial<ContinuationEvaluation>, string, object]>([
    ['stop', { decision: 'forbid', stopReason: stopReason as never }, '', {}],
    ['pause', { decision: 'forbid', stopReason: stopReason as never }, '; waits for a grant', { atLimit: 'pause' }],
    ['finalize', { decision: 'allow' }, '; one more step to sum up', { atLimit: 'finalize' }],
  ])('reached, with %s', (onLimit, answer, words, more) => {
    for (const amount of [10, 11]) {
      expect(limit.explain({ used: amount, onLimit }, judged)).toStrictEqual({
        criterion: name,
        ...answer,
        reason: `${reason(amount, 10)}, limit reached${words}`,
        limit: kind,
        ...more,
        context: context(amount, 10),
      });
    }
  });

  test.each<AtLimit>(['stop', 'pause', 'finalize'])('not reached, it allows plainly, with %s', (onLimit) => {
    expect(limit.explain({ used: 9, onLimit }, judged)).toStrictEqual({
      criterion: name,
      decision: 'allow',
      reason: reason(9, 10),
      limit: kind,
      context: context(9, 10),
    });
  });

  test.each([
    [9, 0, 'allow'],
    [10, 0, 'forbid'],
    [10, 5, 'allow'],
    [14, 5, 'allow'],
    [15, 5, 'forbid'],
    [16, 5, 'forbid'],
  ])('at %d of 10 with %d granted: %s, and says both', (amount, granted, decision) => {
    expect(limit.explain({ used: amount, granted }, judged)).toMatchObject({
      decision,
      reason: `${reason(amount, 10 + granted)}${granted > 0 ? ` (10 at first, ${granted} granted)` : ''}${decision === 'forbid' ? ', limit reached' : ''}`,
      context: { ...context(amount, 10 + granted), ...(granted > 0 && { granted }) },
    });
  });

  test('stops where nothing was said about grants and about reaching it', () => {
    expect(plain.explain({ used: 10 }, judged)).toStrictEqual(limit.explain({ used: 10 }, judged));
    expect(plain.explain({ used: 10, granted: 5, onLimit: 'finalize' }, judged).decision).toBe('forbid');
  });

  test('refuses a grant that is no number instead of allowing for ever', () => {
    expect(() => limit.explain({ used: 1, granted: Number.NaN }, judged)).toThrow(
      'The function that reads what was granted must return a number, not NaN.',
    );
  });
});

test.each([
  ['ExecutionTimeLimit', new ExecutionTimeLimit(10, wall, options)],
  ['CumulativeExecutionTimeLimit', new CumulativeExecutionTimeLimit(10, getUsed, options)],
])('%s leaves the time that was granted, too', (_, limit) => {
  expect(limit.remainingMs({ used: 4 }, judged)).toBe(6000);
  expect(limit.remainingMs({ used: 4, granted: 2 }, judged)).toBe(8000);
  expect(limit.remainingMs({ used: 13, granted: 2 }, judged)).toBe(-1000);
});

describe('Finalize', () => {
  const steps = new StepsLimit<Budget>(3, getUsed, options);
  const tokens = new TokenUsageLimit<Budget>(5, getUsed, options);
  const nothing = { criterion: 'Finalize', decision: 'allow', reason: 'no limit asks for a summary', context: {} };

  test.each<{ readonly what: string; readonly state: Budget; readonly reached: readonly string[] }>([
    { what: 'no limit is reached', state: { used: 2, onLimit: 'finalize' }, reached: [] },
    { what: 'one limit is reached', state: { used: 3, onLimit: 'finalize' }, reached: ['StepsLimit'] },
    { what: 'both limits are reached', state: { used: 5, onLimit: 'finalize' }, reached: ['StepsLimit', 'TokenUsageLimit'] },
    { what: 'what was granted is not used up', state: { used: 3, granted: 1, onLimit: 'finalize' }, reached: [] },
    { what: 'a limit is reached that ends the run', state: { used: 9, onLimit: 'stop' }, reached: [] },
    { what: 'a limit is reached that waits for a grant', state: { used: 9, onLimit: 'pause' }, reached: [] },
  ])('where $what', ({ state, reached }) => {
    expect(new Finalize([steps, tokens]).explain(state)).toStrictEqual(
      reached.length === 0
        ? nothing
        : {
            criterion: 'Finalize',
            decision: 'request',
            reason: `${reached.join(' and ')} ${reached.length === 1 ? 'was' : 'were'} reached with work left: one step to sum up`,
            context: { limits: reached },
          },
    );
  });

  test('has nothing to say without limits', () => {
    expect(new Finalize<Budget>([]).explain({ used: 9, onLimit: 'finalize' })).toStrictEqual(nothing);
  });
});

describe('as criteria', () => {
  const states: readonly Budget[] = (['stop', 'pause', 'finalize'] as const).flatMap((onLimit) => [
    { used: 0, onLimit },
    { used: 10, onLimit },
    { used: 10, granted: 5, onLimit },
    { used: 99, granted: 5, onLimit },
  ]);
  const repeated = new RepeatedToolCall<Budget>(2, ({ used: amount }, count) =>
    Array.from({ length: Math.min(amount, count) }, () => [{ name: 'search', args: { q: 'tea' } }]),
  );
  const unknownCost = new CostLimit<Budget>(10, (budget) => ({ usd: getUsed(budget), unknownCalls: 2 }), options);
  const criteria = [...limits.map(({ limit }) => limit), unknownCost, repeated, new Finalize<Budget>(limits.map(({ limit }) => limit))];

  test.each(criteria.flatMap((criterion) => criterionConformance(criterion, states)))('$name', async ({ run }) => {
    await run();
  });
});
