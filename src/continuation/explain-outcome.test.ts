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
      "Stopped after step 20: the step limit was reached (20 of 20).
      Decided by StepsLimit.
      Next: Raise limits.steps if the work needs more steps.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck. Under the limit: TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('a limit that cut work short', () => {
    expect(base.evaluate({ ...run, steps: 20 }).explain({ stepNumber: 20 })).toMatchInlineSnapshot(`
      "Stopped after step 20: the step limit was reached (20 of 20).
      Decided by StepsLimit.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Raise limits.steps if the work needs more steps.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('completed', () => {
    expect(base.evaluate({ ...run, hasToolCalls: false }).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Completed in step 3: the model answered and called no tools.
      Decided by ToolCallPresenceCheck.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (3 of 20), TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('going on because somebody asked', () => {
    expect(base.evaluate(run).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Continued after step 3: the model has not answered yet.
      Decided by ToolCallPresenceCheck.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (3 of 20), TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('going on although somebody let go', () => {
    const failure: ErrorContext = { type: 'tool', toolName: 'search', consecutiveFailures: 1, totalFailures: 1 };
    expect(base.evaluate({ ...run, failure, hasToolCalls: false }).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Continued after step 3: retry after a tool error in search: failure 1 of at most 3 in a row.
      Decided by PendingRetry.
      ToolCallPresenceCheck agreed to stop: the model called no tools.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck. Under the limit: StepsLimit (3 of 20), TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('going on because nobody minded', () => {
    expect(
      ContinuationCriteria.from(...guards.slice(2, 4))
        .evaluate(run)
        .explain({ stepNumber: 3 }),
    ).toMatchInlineSnapshot(`
      "Continued after step 3: no rule objected or asked to stop.
      Under the limit: StepsLimit (3 of 20), TokenUsageLimit (1200 of 32768)."
    `);
  });

  test('a start', () => {
    expect(base.evaluate({ ...run, steps: 0 }).explain({ stepNumber: 0 })).toMatchInlineSnapshot(`
      "Started.
      Decided by ToolCallPresenceCheck: the model has not answered yet.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (0 of 20), TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('a refused start', () => {
    const outcome = ContinuationCriteria.from<Run>(new StepsLimit(0, ({ steps }) => steps), ...drivers).evaluate({ ...run, steps: 0 });
    expect(outcome.explain({ stepNumber: 0 })).toMatchInlineSnapshot(`
      "Not started: the step limit was reached (0 of 0).
      Decided by StepsLimit.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Raise limits.steps if the work needs more steps.
      No objection: PendingRetry."
    `);
  });

  test('a start with nothing to do', () => {
    expect(base.evaluate({ ...run, steps: 0, hasToolCalls: false }).explain({ stepNumber: 0 })).toMatchInlineSnapshot(`
      "Not started: the model answered and called no tools.
      Decided by ToolCallPresenceCheck.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (0 of 20), TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('finished in the step that reached the limit', () => {
    const outcome = base.evaluate({ ...run, steps: 20, hasToolCalls: false });
    expect(outcome.finishedAtLimit).toBe(true);
    expect(outcome.explain({ stepNumber: 20, finished: true })).toMatchInlineSnapshot(`
      "Completed in step 20: the model answered and called no tools. The step limit was reached in the same step (20 of 20).
      Decided by StepsLimit.
      No objection: StopRequested, ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('several that forbid', () => {
    const stopRequest: StopRequest = { by: 'request', reason: 'the user closed the tab' };
    expect(base.evaluate({ ...run, steps: 20, tokens: 40_000 }, { stopRequest }).explain({ stepNumber: 20 })).toMatchInlineSnapshot(`
      "Stopped on request after step 20: the user closed the tab.
      Decided by StopRequested.
      StepsLimit also objected: 20 of 20 steps used, limit reached.
      TokenUsageLimit also objected: 40000 of 32768 tokens used, limit reached.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Send a message to continue.
      No objection: ErrorPolicyCriterion, FinishReasonCheck, PendingRetry. Under the limit: ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('retries that are used up', () => {
    const failure: ErrorContext = { type: 'tool', toolName: 'search', consecutiveFailures: 3, totalFailures: 4 };
    expect(base.evaluate({ ...run, failure }).explain({ stepNumber: 3 })).toMatchInlineSnapshot(`
      "Failed after step 3: third failure in a row (limit 3), the last one a tool error in search.
      Decided by ErrorPolicyCriterion.
      ToolCallPresenceCheck asked for another step: the model has not answered yet.
      Next: Fix the cause of the failures, then send a message to continue.
      No objection: StopRequested, FinishReasonCheck, PendingRetry. Under the limit: StepsLimit (3 of 20), TokenUsageLimit (1200 of 32768), ExecutionTimeLimit, CumulativeExecutionTimeLimit."
    `);
  });

  test('a criterion that failed', () => {
    const outcome = ContinuationOutcome.fromEvaluationError(new CriterionFailedError('Budget', 'no price list'));
    expect(outcome.explain({ stepNumber: 4 })).toMatchInlineSnapshot(`
      "Your criterion Budget threw after step 4: no price list. The step was kept.
      Next: Return an evaluation for every state, and never throw."
    `);
  });

  test('nobody to ask', () => {
    expect(ContinuationOutcome.empty().explain()).toMatchInlineSnapshot(`"Completed: there were no rules to ask."`);
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
      "Stopped by Budget: the budget is spent!
      Curfew forbade continuation.
      Backlog requested continuation.
      Mood allows stop.
      Next: Resolve what Budget objects to, then send a message to continue.
      No objection: Weather."
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
    [1, 'No objection: C1.'],
    [2, 'No objection: C1, C2.'],
    [20, /^No objection: C1, .*, C20\.$/],
    [23, /^No objection: C1, .*, C20 and 3 more\.$/],
  ])('%i rules without an objection are named in one line', (count, expected) => {
    expect(explainMany(count)).toMatch(expected);
  });

  test('nobody is counted where there is nobody', () => {
    expect(explainMany(0)).toBe('Next: Resolve what Guard objects to, then send a message to continue.');
  });

  test('without a step number the step is not mentioned', () => {
    expect(base.evaluate(run).explain()).toMatch(/^Continued: the model has not answered yet\.\n/);
    expect(base.evaluate({ ...run, hasToolCalls: false }).explain()).toMatch(/^Completed: the model answered and called no tools\.\n/);
    expect(base.evaluate({ ...run, steps: 20 }).explain()).toMatch(/^Stopped: the step limit was reached \(20 of 20\)\.\n/);
    expect(base.evaluate({ ...run, steps: 20, hasToolCalls: false }).explain({ finished: true })).toMatch(
      /^Completed: the model answered and called no tools\. The step limit was reached in the same step \(20 of 20\)\.\n/,
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
