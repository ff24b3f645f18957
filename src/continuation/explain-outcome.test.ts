import { describe, expect, test } from 'vitest';
import type { CanResolveErrorContext } from '../errors/index.ts';
import { ErrorContext, ErrorPolicy } from '../errors/index.ts';
import { ContinuationCriteria } from './continuation-criteria.ts';
import { ContinuationOutcome } from './continuation-outcome.ts';
import { CumulativeExecutionTimeLimit } from './criteria/cumulative-execution-time-limit.ts';
import { ErrorPolicyCriterion } from './criteria/error-policy-criterion.ts';
import { ExecutionTimeLimit } from './criteria/execution-time-limit.ts';
import { FinishReasonCheck } from './criteria/finish-reason-check.ts';
import { PendingRetry } from './criteria/pending-retry.ts';
import { StepsLimit } from './criteria/steps-limit.ts';
import type { StopRequest } from './findings.ts';
import { StopRequested } from './criteria/stop-requested.ts';
import { TokenUsageLimit } from './criteria/token-usage-limit.ts';
import { ToolCallPresenceCheck } from './criteria/tool-call-presence-check.ts';
import type { ContinuationCriterion } from './criterion.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import { stopWhen, when } from './when.ts';

interface Run {
  readonly steps: number;
  readonly tokens: number;
  readonly elapsedMs: number;
  readonly failure: ErrorContext;
  readonly hasToolCalls: boolean;
}

const resolver: CanResolveErrorContext<Run> = { resolve: ({ failure }) => failure };
const policy = ErrorPolicy.retryToolErrors(3);
const run: Run = { steps: 3, tokens: 1200, elapsedMs: 4200, failure: ErrorContext.none(), hasToolCalls: true };

const guards: readonly ContinuationCriterion<Run>[] = [
  new StopRequested(),
  new ErrorPolicyCriterion(policy, resolver),
  new StepsLimit(20, ({ steps }) => steps),
  new TokenUsageLimit(32_768, ({ tokens }) => tokens),
  new ExecutionTimeLimit(300, () => 0),
  new FinishReasonCheck(['length'], () => 'tool_calls'),
  new CumulativeExecutionTimeLimit(600, ({ elapsedMs }) => elapsedMs / 1000),
];
const drivers: readonly ContinuationCriterion<Run>[] = [
  new ToolCallPresenceCheck(({ hasToolCalls }) => hasToolCalls),
  new PendingRetry(policy, resolver),
];
const base = ContinuationCriteria.from(...guards, ...drivers);

describe('what a tired person reads', () => {
  test('a limit among six others', () => {
    const outcome = ContinuationCriteria.from(...guards).evaluate({ ...run, steps: 20 });
    expect(outcome.explain({ stepNumber: 20 })).toMatchInlineSnapshot(`
      "Stopped after step 20: steps_limit.
      StepsLimit: 20 of 20 steps used.
      Six other criteria would have gone on: StopRequested, ErrorPolicyCriterion, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit."
    `);
  });

  test('a limit that cut work short', () => {
    expect(base.evaluate({ ...run, steps: 20 }).explain({ stepNumber: 20 })).toMatchInlineSnapshot(`
      "Stopped after step 20: steps_limit.
      StepsLimit: 20 of 20 steps used.
      ToolCallPresenceCheck asked to go on: there is work for the model to go on with.
      Seven other criteria would have gone on: StopRequested, ErrorPolicyCriterion, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('completed', () => {
    expect(base.evaluate({ ...run, hasToolCalls: false }).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Finished after step 3: completed.
      ToolCallPresenceCheck let go: no tool calls are left to go on with.
      Eight other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('going on because somebody asked', () => {
    expect(base.evaluate(run).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Went on after step 3.
      ToolCallPresenceCheck asked to go on: there is work for the model to go on with.
      Eight other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('going on although somebody let go', () => {
    const failure: ErrorContext = { type: 'tool', toolName: 'search', consecutiveFailures: 1, totalFailures: 1 };
    expect(base.evaluate({ ...run, failure, hasToolCalls: false }).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Went on after step 3.
      PendingRetry asked to go on: tool error in search: retrying, attempt 1 of 3 failed.
      ToolCallPresenceCheck let go: no tool calls are left to go on with.
      Seven other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit."
    `);
  });

  test('going on because nobody minded', () => {
    expect(
      ContinuationCriteria.from(...guards.slice(2, 4))
        .evaluate(run)
        .explain({ stepNumber: 3 }),
    ).toMatchInlineSnapshot(`
      "Went on after step 3.
      Nobody forbade and nobody let go: StepsLimit, TokenUsageLimit."
    `);
  });

  test('a start', () => {
    expect(base.evaluate({ ...run, steps: 0 }).explain({ stepNumber: 0 })).toMatchInlineSnapshot(`
      "Started.
      ToolCallPresenceCheck asked to go on: there is work for the model to go on with.
      Eight other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('a refused start', () => {
    const outcome = ContinuationCriteria.from<Run>(new StepsLimit(0, ({ steps }) => steps), ...drivers).evaluate({ ...run, steps: 0 });
    expect(outcome.explain({ stepNumber: 0 })).toMatchInlineSnapshot(`
      "Refused to start: steps_limit.
      StepsLimit: 0 of 0 steps used.
      ToolCallPresenceCheck asked to go on: there is work for the model to go on with.
      One other criterion would have gone on: PendingRetry."
    `);
  });

  test('a start with nothing to do', () => {
    expect(base.evaluate({ ...run, steps: 0, hasToolCalls: false }).explain({ stepNumber: 0 })).toMatchInlineSnapshot(`
      "Did not start: completed.
      ToolCallPresenceCheck let go: no tool calls are left to go on with.
      Eight other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('finished in the step that reached the limit', () => {
    const outcome = base.evaluate({ ...run, steps: 20, hasToolCalls: false });
    expect(outcome.finishedAtLimit).toBe(true);
    expect(outcome.explain({ stepNumber: 20, finished: true })).toMatchInlineSnapshot(`
      "Finished after step 20; StepsLimit was reached in the same step (steps_limit).
      StepsLimit: 20 of 20 steps used.
      ToolCallPresenceCheck let go: no tool calls are left to go on with.
      Seven other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('several that forbid', () => {
    const stopRequest: StopRequest = { by: 'request', reason: 'the user closed the tab' };
    expect(base.evaluate({ ...run, steps: 20, tokens: 40_000 }, { stopRequest }).explain({ stepNumber: 20 })).toMatchInlineSnapshot(`
      "Stopped after step 20: user_requested.
      StopRequested: the user closed the tab.
      StepsLimit: 20 of 20 steps used.
      TokenUsageLimit: 40000 of 32768 tokens used.
      ToolCallPresenceCheck asked to go on: there is work for the model to go on with.
      Five other criteria would have gone on: ErrorPolicyCriterion, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('retries that are used up', () => {
    const failure: ErrorContext = { type: 'tool', toolName: 'search', consecutiveFailures: 3, totalFailures: 4 };
    expect(base.evaluate({ ...run, failure }).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Stopped after step 3: retry_limit.
      ErrorPolicyCriterion: tool error in search: attempt 3 failed, 3 allowed.
      ToolCallPresenceCheck asked to go on: there is work for the model to go on with.
      Seven other criteria would have gone on: StopRequested, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, CumulativeExecutionTimeLimit, PendingRetry."
    `);
  });

  test('a criterion that failed', () => {
    const outcome = ContinuationOutcome.fromEvaluationError(new CriterionFailedError('Budget', 'no price list'));
    expect(outcome.explain({ stepNumber: 4 })).toMatchInlineSnapshot(`
      "Stopped after step 4: error.
      ContinuationCriteria: Evaluation failed: Criterion "Budget" failed: no price list."
    `);
  });

  test('nobody to ask', () => {
    expect(ContinuationOutcome.empty().explain()).toMatchInlineSnapshot(`
      "Finished: completed.
      There were no criteria to ask."
    `);
  });

  test('criteria of the host’s own, with and without words', () => {
    const own = ContinuationCriteria.from<Run>(
      stopWhen('Budget', () => 'the budget is spent!'),
      when('Curfew', () => 'forbid'),
      when('Backlog', () => 'request'),
      when('Mood', () => 'stop'),
      when('Weather', () => 'allow'),
    );
    expect(own.evaluate(run).explain()).toMatchInlineSnapshot(`
      "Stopped: guard.
      Budget: the budget is spent!
      Curfew forbade continuation.
      Backlog requested continuation.
      Mood allows stop.
      One other criterion would have gone on: Weather."
    `);
  });
});

describe('details', () => {
  const explainMany = (count: number): string => {
    const others = Array.from({ length: count }, (_, index) => when<Run>(`C${index + 1}`, () => 'allow'));
    return (
      ContinuationCriteria.from<Run>(
        stopWhen('Guard', () => 'enough'),
        ...others,
      )
        .evaluate(run)
        .explain()
        .split('\n')
        .at(-1) ?? ''
    );
  };

  test.each([
    [1, 'One other criterion would have gone on: C1.'],
    [2, 'Two other criteria would have gone on: C1, C2.'],
    [12, /^Twelve other criteria would have gone on: C1, .*, C12\.$/],
    [13, /^13 other criteria would have gone on: /],
  ])('%i others are counted in words', (count, expected) => {
    expect(explainMany(count)).toMatch(expected);
  });

  test('nobody is counted where there is nobody', () => {
    expect(explainMany(0)).toBe('Guard: enough.');
  });

  test('without a step number the step is not mentioned', () => {
    expect(base.evaluate(run).explain()).toMatch(/^Went on\.\n/);
    expect(base.evaluate({ ...run, hasToolCalls: false }).explain()).toMatch(/^Finished: completed\.\n/);
    expect(base.evaluate({ ...run, steps: 20 }).explain()).toMatch(/^Stopped: steps_limit\.\n/);
    expect(base.evaluate({ ...run, steps: 20, hasToolCalls: false }).explain({ finished: true })).toMatch(
      /^Finished; StepsLimit was reached in the same step \(steps_limit\)\.\n/,
    );
  });

  test('a natural end is told as one, also where the caller says that it finished', () => {
    const outcome = base.evaluate({ ...run, hasToolCalls: false });
    expect(outcome.explain({ stepNumber: 3, finished: true })).toBe(outcome.explain({ stepNumber: 3 }));
  });

  test('an outcome from storage reads the same', () => {
    const outcome = base.evaluate({ ...run, steps: 20 });
    const restored = ContinuationOutcome.fromJSON(JSON.parse(JSON.stringify(outcome)));
    expect(restored.explain({ stepNumber: 20 })).toBe(outcome.explain({ stepNumber: 20 }));
  });
});
