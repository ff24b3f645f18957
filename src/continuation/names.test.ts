// Names of criteria: built-ins take one, and a doubled name gets a number.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ErrorContext, ErrorPolicy } from '../errors/index.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import { ContinuationOutcome } from './continuation-outcome.ts';
import { CostLimit } from './criteria/cost-limit.ts';
import { CumulativeExecutionTimeLimit } from './criteria/cumulative-execution-time-limit.ts';
import { ErrorPolicyCriterion } from './criteria/error-policy-criterion.ts';
import { ErrorPresenceCheck } from './criteria/error-presence-check.ts';
import { ExecutionTimeLimit } from './criteria/execution-time-limit.ts';
import { Finalize } from './criteria/finalize.ts';
import { FinishReasonCheck } from './criteria/finish-reason-check.ts';
import { PendingRetry } from './criteria/pending-retry.ts';
import { RepeatedToolCall } from './criteria/repeated-tool-call.ts';
import { ResponseContentCheck } from './criteria/response-content-check.ts';
import { RetryLimit } from './criteria/retry-limit.ts';
import { StepsLimit } from './criteria/steps-limit.ts';
import { StopOnFinalDecision } from './criteria/stop-on-final-decision.ts';
import { StopRequested } from './criteria/stop-requested.ts';
import { TokenUsageLimit } from './criteria/token-usage-limit.ts';
import { ToolCallPresenceCheck } from './criteria/tool-call-presence-check.ts';
import type { CanExplainContinuation, ContinuationCriterion } from './criterion.ts';
import type { CriterionOptions } from './built-in-criterion.ts';
import type { Findings } from './findings.ts';
import { readOutcome, writeOutcome } from './stored-outcome.ts';
import { stopWhen, when } from './when.ts';

const resolver = { resolve: () => ErrorContext.none() };
const failing = { resolve: () => ({ type: 'tool', consecutiveFailures: 1, totalFailures: 1 }) as const };
const policy = ErrorPolicy.retryAll(3);
const one = (): number => 1;
const reached = new StepsLimit<number>(1, one, { onLimit: () => 'finalize' });

type Make = (options?: CriterionOptions) => CanExplainContinuation<number>;
const builtIns: readonly { readonly usual: string; readonly make: Make; readonly findings?: Findings }[] = [
  { usual: 'StepsLimit', make: (options) => new StepsLimit(1, one, options) },
  { usual: 'TokenUsageLimit', make: (options) => new TokenUsageLimit(1, one, options) },
  { usual: 'ExecutionTimeLimit', make: (options) => new ExecutionTimeLimit(1, one, options) },
  { usual: 'CumulativeExecutionTimeLimit', make: (options) => new CumulativeExecutionTimeLimit(1, one, options) },
  { usual: 'CostLimit', make: (options) => new CostLimit(1, () => ({ usd: 1 }), options) },
  { usual: 'ErrorPolicyCriterion', make: (options) => new ErrorPolicyCriterion(policy, resolver, options) },
  { usual: 'ErrorPolicyCriterion', make: (options) => new ErrorPolicyCriterion(policy, failing, options) },
  { usual: 'ErrorPresenceCheck', make: (options) => new ErrorPresenceCheck(() => true, options) },
  { usual: 'Finalize', make: (options) => new Finalize([], options) },
  { usual: 'Finalize', make: (options) => new Finalize([reached], options) },
  { usual: 'FinishReasonCheck', make: (options) => new FinishReasonCheck(['length'], () => undefined, options) },
  { usual: 'FinishReasonCheck', make: (options) => new FinishReasonCheck(['length'], () => 'length', options) },
  { usual: 'PendingRetry', make: (options) => new PendingRetry(policy, resolver, options) },
  { usual: 'PendingRetry', make: (options) => new PendingRetry(policy, failing, options) },
  { usual: 'RepeatedToolCall', make: (options) => new RepeatedToolCall(2, () => [], options) },
  { usual: 'ResponseContentCheck', make: (options) => new ResponseContentCheck(one, () => true, options) },
  { usual: 'RetryLimit', make: (options) => new RetryLimit(1, { steps: () => [1], hasError: () => true }, options) },
  { usual: 'StopOnFinalDecision', make: (options) => new StopOnFinalDecision(() => 'tool_execution', options) },
  { usual: 'StopRequested', make: (options) => new StopRequested(options) },
  {
    usual: 'StopRequested',
    make: (options) => new StopRequested(options),
    findings: { stopRequest: { by: 'request', reason: 'Enough.' } },
  },
  { usual: 'ToolCallPresenceCheck', make: (options) => new ToolCallPresenceCheck(() => true, options) },
  { usual: 'ToolCallPresenceCheck', make: (options) => new ToolCallPresenceCheck(() => false, options) },
];

describe.each(builtIns)('$usual', ({ usual, make, findings }) => {
  test('has the name of its class unless it is given one', () => {
    expect([make().name, make({}).name, make().explain(1, findings).criterion]).toStrictEqual([usual, usual, usual]);
  });

  test('answers under the name that it is given', () => {
    const named = make({ name: 'Mine' });
    expect([named.name, named.explain(1, findings).criterion]).toStrictEqual(['Mine', 'Mine']);
  });

  test('answers the same under any name', () => {
    expect(make({ name: 'Mine' }).explain(1, findings)).toStrictEqual({ ...make().explain(1, findings), criterion: 'Mine' });
  });

  test.each([[''], [7], [null]])('refuses the name %j', (name) => {
    expect(() => make({ name: name as string })).toThrow(`${usual}: name must be a non-empty string, not ${JSON.stringify(name)}.`);
  });

  test('gets a number if the name is taken, and its evaluation has it', () => {
    const { evaluations } = ContinuationCriteria.from(make(), make(), make()).evaluate(1, findings);
    expect(evaluations.map(({ criterion }) => criterion)).toStrictEqual([usual, `${usual}#2`, `${usual}#3`]);
    expect(evaluations[1]).toStrictEqual({ ...evaluations[0], criterion: `${usual}#2` });
    expect(Object.isFrozen(evaluations[1])).toBe(true);
  });
});

const createCriterion = (name: string): ContinuationCriterion<number> => ({ name, decide: () => 'allow' });
const listNames = (...names: readonly string[]): readonly string[] => ContinuationCriteria.from(...names.map(createCriterion)).names;

describe('a doubled name', () => {
  test.each([
    [
      ['A', 'B'],
      ['A', 'B'],
    ],
    [
      ['A', 'A'],
      ['A', 'A#2'],
    ],
    [
      ['A', 'B', 'A', 'B', 'A'],
      ['A', 'B', 'A#2', 'B#2', 'A#3'],
    ],
    // A number that is taken is skipped.
    [
      ['A#2', 'A', 'A'],
      ['A#2', 'A', 'A#3'],
    ],
    [
      ['A', 'A', 'A#2'],
      ['A', 'A#2', 'A#2#2'],
    ],
    // Upper and lower case are two names.
    [
      ['A', 'a'],
      ['A', 'a'],
    ],
  ])('%j is listed as %j', (given, names) => {
    expect(listNames(...given)).toStrictEqual(names);
  });

  test('makes all names distinct, in the same way every time, and further criteria rename nobody', () => {
    const names = fc.array(fc.constantFrom('A', 'B', 'A#2', 'A#3', 'A#2#2'), { maxLength: 12 });
    fc.assert(
      fc.property(names, names, (first, more) => {
        const all = listNames(...first, ...more);
        expect(new Set(all).size).toBe(all.length);
        expect(all.slice(0, first.length)).toStrictEqual(listNames(...first));
        expect(ContinuationCriteria.from(...first.map(createCriterion)).withCriteria(...more.map(createCriterion)).names).toStrictEqual(
          all,
        );
      }),
    );
  });

  test('is numbered in a bare decision, in a default reason, and in nobody’s own words', () => {
    const { evaluations } = ContinuationCriteria.from<number>(
      createCriterion('A'),
      createCriterion('A'),
      when('A', () => ContinuationDecision.AllowContinuation),
      when('A', () => ({ decision: ContinuationDecision.AllowContinuation, reason: 'A is fine' })),
    ).evaluate(1);
    expect(evaluations.map(({ criterion, reason }) => [criterion, reason])).toStrictEqual([
      ['A', 'A permits continuation'],
      ['A#2', 'A#2 permits continuation'],
      ['A#3', 'A#3 permits continuation'],
      ['A#4', 'A is fine'],
    ]);
  });

  test('is numbered in the outcome, its explanation and its JSON', () => {
    const criteria = ContinuationCriteria.from(new StepsLimit(20, Number), new StepsLimit(3, Number));
    const outcome = criteria.evaluate(3);
    expect([outcome.resolvedBy, outcome.stopReason, outcome.getForbiddingCriterion()]).toStrictEqual([
      'StepsLimit#2',
      'steps_limit',
      'StepsLimit#2',
    ]);
    expect(outcome.explain()).toContain('Decided by StepsLimit#2.');
    const before = criteria.evaluate(2);
    for (const again of [
      ContinuationOutcome.fromJSON(JSON.parse(JSON.stringify(outcome))),
      readOutcome(JSON.parse(JSON.stringify(writeOutcome(outcome, before))), 'outcome', before),
    ])
      expect(again).toStrictEqual(outcome);
    // The short form needs distinct names.
    expect(Object.keys(writeOutcome(outcome, before))).not.toContain('shouldContinue');
  });

  test.each<[string, ContinuationCriterion<number>]>([
    ['that throws', stopWhen('A', () => JSON.parse('{') as false)],
    ['whose answer is not a decision', when('A', () => true as never)],
    ['whose evaluation cannot be stored', { name: 'A', explain: () => ({ criterion: 'A' }) as never }],
  ])('is numbered in the error of a criterion %s', (_, broken) => {
    const judge = (...criteria: readonly ContinuationCriterion<number>[]) => ContinuationCriteria.from(...criteria).evaluate(1);
    expect(() => judge(createCriterion('A'), broken)).toThrow(
      expect.objectContaining({ criterion: 'A#2', message: expect.stringMatching(/^Criterion "A#2" failed: /) as string }),
    );
    expect(() => judge(broken, createCriterion('A'))).toThrow(expect.objectContaining({ criterion: 'A' }));
  });

  test('is numbered within its own collection, whatever collection contains that', () => {
    const inner = ContinuationCriteria.from(
      createCriterion('A'),
      stopWhen<number>('A', () => 'no'),
    ).asCriterion('Inner');
    expect(ContinuationCriteria.from(createCriterion('A'), inner).evaluate(1).evaluations[1]).toMatchObject({
      criterion: 'Inner',
      reason: 'A#2: no',
    });
  });

  test('leaves the policy and the deadline with their criteria', () => {
    const [first, second] = [ErrorPolicy.retryAll(3), ErrorPolicy.stopOnAnyError()];
    const criteria = ContinuationCriteria.from<number>(
      new ErrorPolicyCriterion(first, failing),
      new ErrorPolicyCriterion(second, failing),
      new ExecutionTimeLimit(10, () => 0),
      new ExecutionTimeLimit(4, () => 0),
    );
    expect(criteria.errorPolicy).toBe(first);
    expect(criteria.remainingMs(1, { now: 1000 })).toBe(3000);
    expect(criteria.evaluate(1, { now: 1000 }).resolvedBy).toBe('ErrorPolicyCriterion#2');
  });
});
