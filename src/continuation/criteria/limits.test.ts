import { describe, expect, test } from 'vitest';
import { createFakeClock, InvalidArgumentError } from '../../lib/index.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { CumulativeExecutionTimeLimit } from './cumulative-execution-time-limit.ts';
import { ExecutionTimeLimit } from './execution-time-limit.ts';
import { RetryLimit } from './retry-limit.ts';
import { StepsLimit } from './steps-limit.ts';
import { TokenUsageLimit } from './token-usage-limit.ts';

const itself = (value: number): number => value;

interface LimitRow {
  readonly name: string;
  /** Answers for the limit and the value, in the unit of the limit. */
  readonly answer: (limit: number, value: number) => ContinuationEvaluation;
  readonly stopReason: string;
  readonly limit: string;
  readonly context: (limit: number, value: number) => object;
  readonly reason: string;
}

const limits: readonly LimitRow[] = [
  {
    name: 'StepsLimit',
    answer: (limit, value) => new StepsLimit(limit, itself).explain(value),
    stopReason: 'steps_limit',
    limit: 'steps',
    context: (maxSteps, currentSteps) => ({ currentSteps, maxSteps }),
    reason: '20 of 20 steps used, limit reached',
  },
  {
    name: 'TokenUsageLimit',
    answer: (limit, value) => new TokenUsageLimit(limit, itself).explain(value),
    stopReason: 'token_limit',
    limit: 'tokens',
    context: (maxTokens, currentUsage) => ({ currentUsage, maxTokens }),
    reason: '20 of 20 tokens used, limit reached',
  },
  {
    name: 'ExecutionTimeLimit',
    answer: (limit, value) => new ExecutionTimeLimit(limit, () => 0).explain(undefined, { now: value * 1000 }),
    stopReason: 'time_limit',
    limit: 'wall',
    context: (maxSeconds, elapsedSeconds) => ({ elapsedSeconds, maxSeconds }),
    reason: '20 s of 20 s of run time used, limit reached',
  },
  {
    name: 'CumulativeExecutionTimeLimit',
    answer: (limit, value) => new CumulativeExecutionTimeLimit(limit, itself).explain(value),
    stopReason: 'time_limit',
    limit: 'active',
    context: (maxSeconds, cumulativeSeconds) => ({ cumulativeSeconds, maxSeconds }),
    reason: '20 s of 20 s of active time used, limit reached',
  },
];

describe.each(limits)('$name', ({ name, answer, stopReason, limit, context, reason }) => {
  test.each([0, 1, 19])('allows at %d of 20, with its numbers', (value) => {
    expect(answer(20, value)).toStrictEqual({
      criterion: name,
      decision: 'allow',
      reason: expect.stringMatching(new RegExp(`^${value}( s)? of 20 `)) as string,
      limit,
      context: context(20, value),
    });
  });

  test.each([20, 21, 4000])('forbids at %d of 20, with its numbers', (value) => {
    expect(answer(20, value)).toStrictEqual({
      criterion: name,
      decision: 'forbid',
      reason: answer(20, value).reason,
      stopReason,
      limit,
      context: context(20, value),
    });
  });

  test('says in words how much was used', () => {
    expect(answer(20, 20).reason).toBe(reason);
  });
});

test('StepsLimit and TokenUsageLimit of 0 refuse to start', () => {
  expect(new StepsLimit(0, itself).decide(0)).toBe('forbid');
  expect(new TokenUsageLimit(0, itself).decide(0)).toBe('forbid');
});

describe('a limit that could never mean anything is refused', () => {
  const none = { steps: (): [] => [], hasError: (): boolean => false };
  test.each([
    ['StepsLimit', 'maxSteps', (value: number) => new StepsLimit(value, itself), false],
    ['TokenUsageLimit', 'maxTokens', (value: number) => new TokenUsageLimit(value, itself), false],
    ['RetryLimit', 'maxConsecutiveFailures', (value: number) => new RetryLimit(value, none), false],
    ['ExecutionTimeLimit', 'maxSeconds', (value: number) => new ExecutionTimeLimit(value, () => 0), true],
    ['CumulativeExecutionTimeLimit', 'maxSeconds', (value: number) => new CumulativeExecutionTimeLimit(value, itself), true],
  ])('%s', (_name, option, create, zeroRefused) => {
    for (const bad of [Number.NaN, -1, Number.POSITIVE_INFINITY, zeroRefused ? 0 : 1.5]) {
      const rule = zeroRefused ? 'number greater than 0' : 'whole number of 0 or more';
      expect(() => create(bad)).toThrow(InvalidArgumentError);
      expect(() => create(bad)).toThrow(`${option} must be a ${rule}, not ${String(bad)}.`);
    }
    expect(() => create(zeroRefused ? 0.5 : 0)).not.toThrow();
  });
});

describe('TokenUsageLimit', () => {
  test.each([
    [0, '90 of 100 tokens used'],
    [1, '90 of 100 tokens used; 1 call reported no usage'],
    [3, '90 of 100 tokens used; 3 calls reported no usage'],
  ])('says that %i calls did not report their usage', (unknownCalls, reason) => {
    const usage = { input: 80, output: 10, total: 90, unknownCalls };
    const answer = new TokenUsageLimit(100, () => usage).explain(undefined);
    expect(answer).toMatchObject({ decision: 'allow', reason });
    expect(answer.context).toStrictEqual({ currentUsage: 90, maxTokens: 100, ...(unknownCalls > 0 && { unknownCalls }) });
  });

  test('reads the total of a usage', () => {
    expect(new TokenUsageLimit(90, () => ({ input: 80, output: 10, total: 90 })).decide(undefined)).toBe('forbid');
  });
});

describe('ExecutionTimeLimit', () => {
  interface Run {
    readonly startedAt?: number;
    readonly now?: number;
  }
  const limit = new ExecutionTimeLimit<Run>(300, ({ startedAt }) => startedAt);

  test.each([
    ['was not started', { now: 5_000_000 }],
    ['was not judged by the clock yet', { startedAt: 0 }],
    ['has neither time', {}],
    ['began in the future, because the machine’s clock was set back', { startedAt: 9_000_000, now: 1 }],
  ])('allows a run that %s', (_name, run: Run) => {
    expect(limit.explain(run, { now: run.now })).toMatchObject({ decision: 'allow', context: { elapsedSeconds: 0, maxSeconds: 300 } });
    expect(limit.remainingMs(run, { now: run.now })).toBe(300_000);
  });

  test('counts milliseconds, not whole seconds', () => {
    expect(limit.decide({ startedAt: 1000 }, { now: 300_999 })).toBe('allow');
    expect(limit.remainingMs({ startedAt: 1000 }, { now: 300_999 })).toBe(1);
    expect(limit.decide({ startedAt: 1000 }, { now: 301_000 })).toBe('forbid');
    expect(limit.remainingMs({ startedAt: 1000 }, { now: 301_000 })).toBe(0);
    expect(limit.remainingMs({ startedAt: 1000 }, { now: 302_000 })).toBe(-1000);
  });

  test('a run that starts a week after the session was made has all its time', () => {
    const clock = createFakeClock();
    const week = 7 * 24 * 3600 * 1000;
    clock.skip(week);
    const startedAt = clock.now();
    expect(limit.decide({ startedAt }, { now: clock.now() })).toBe('allow');
    clock.skip(299_999);
    expect(limit.decide({ startedAt }, { now: clock.now() })).toBe('allow');
    clock.skip(1);
    expect(limit.decide({ startedAt }, { now: clock.now() })).toBe('forbid');
  });
});

describe('CumulativeExecutionTimeLimit', () => {
  const limit = new CumulativeExecutionTimeLimit(60, itself);

  test('counts parts of a second, and says them with one decimal', () => {
    expect(limit.decide(59.999)).toBe('allow');
    expect(limit.explain(12.34)).toMatchObject({ reason: '12.3 s of 60 s of active time used', context: { cumulativeSeconds: 12.34 } });
  });

  test.each([
    [0, 60_000],
    [59.5, 500],
    [60, 0],
    [61, -1000],
  ])('after %d s it leaves %d ms', (used, remaining) => {
    expect(limit.remainingMs(used)).toBe(remaining);
  });
});

describe('RetryLimit', () => {
  const createLimit = (max: number): RetryLimit<string, string> =>
    new RetryLimit(max, { steps: (state) => [...state], hasError: (step) => step === 'x' });

  test.each([
    [3, '', 'allow', 0],
    [3, '...', 'allow', 0],
    [3, 'xx', 'allow', 2],
    [3, 'xxx.', 'allow', 0],
    [3, 'xxx.xx', 'allow', 2],
    [3, 'xxx', 'forbid', 3],
    [3, '.xxxx', 'forbid', 4],
    [1, '.x', 'forbid', 1],
    [0, '', 'allow', 0],
    [0, '..', 'allow', 0],
    [0, '.x', 'forbid', 1],
  ] as const)('of %i, after the steps "%s" (x failed): %s', (max, steps, decision, consecutiveFailures) => {
    expect(createLimit(max).explain(steps)).toStrictEqual({
      criterion: 'RetryLimit',
      decision,
      reason: `${consecutiveFailures} of ${max} failures in a row${decision === 'forbid' ? ', limit reached' : ''}`,
      ...(decision === 'forbid' && { stopReason: 'retry_limit' }),
      context: { consecutiveFailures, maxConsecutiveFailures: max },
    });
    expect(createLimit(max).decide(steps)).toBe(decision);
  });
});

test.each([
  ['StepsLimit', new StepsLimit<unknown>(3, () => Number.NaN)],
  ['TokenUsageLimit', new TokenUsageLimit<unknown>(3, () => Number.NaN)],
  ['CumulativeExecutionTimeLimit', new CumulativeExecutionTimeLimit<unknown>(3, () => Number.NaN)],
  ['ExecutionTimeLimit', new ExecutionTimeLimit<unknown>(3, () => Number.NaN)],
])('%s refuses a count that is none instead of allowing for ever', (_, limit) => {
  expect(() => limit.explain({}, { now: 5 })).toThrow(/must return a number, not NaN/);
});
