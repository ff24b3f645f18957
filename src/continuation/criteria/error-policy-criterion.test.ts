import { describe, expect, test } from 'vitest';
import type { CanResolveErrorContext } from '../../errors/index.ts';
import { ErrorContext, ErrorPolicy } from '../../errors/index.ts';
import { ContinuationCriteria } from '../continuation-criteria.ts';
import { ErrorPolicyCriterion } from './error-policy-criterion.ts';
import { PendingRetry } from './pending-retry.ts';
import { ToolCallPresenceCheck } from './tool-call-presence-check.ts';

type Contexts = ErrorContext | readonly ErrorContext[];

// The state of these tests is the contexts themselves.
const resolver: CanResolveErrorContext<Contexts> = { resolve: (contexts) => contexts };
const context = (fields: Partial<ErrorContext> = {}): ErrorContext => ({
  type: 'tool',
  consecutiveFailures: 1,
  totalFailures: 1,
  ...fields,
});
const retry = ErrorPolicy.retryAll(3);

const rows = [
  {
    name: 'nothing failed',
    policy: retry,
    contexts: ErrorContext.none(),
    answer: { decision: 'allow', stopReason: undefined, reason: 'nothing failed' },
    facts: {
      errorType: 'unknown',
      consecutiveFailures: 0,
      totalFailures: 0,
      maxRetries: 3,
      handling: 'ignore',
      cause: 'no-error',
      toolName: null,
    },
    requests: false,
  },
  {
    name: 'the policy stops',
    policy: ErrorPolicy.stopOnAnyError(),
    contexts: context({ type: 'model', totalFailures: 2 }),
    answer: { decision: 'forbid', stopReason: 'error', reason: 'the policy stops the run on a model error' },
    facts: {
      errorType: 'model',
      consecutiveFailures: 1,
      totalFailures: 2,
      maxRetries: 0,
      handling: 'stop',
      cause: 'policy',
      toolName: null,
    },
    requests: false,
  },
  {
    name: 'the policy retries',
    policy: retry,
    contexts: context({ toolName: 'search', toolCallId: 'call_1', code: 'tool-failed', consecutiveFailures: 2, totalFailures: 5 }),
    answer: { decision: 'allow', stopReason: undefined, reason: 'retry after a tool error in search: failure 2 of at most 3 in a row' },
    facts: {
      errorType: 'tool',
      consecutiveFailures: 2,
      totalFailures: 5,
      maxRetries: 3,
      handling: 'retry',
      cause: 'policy',
      toolName: 'search',
      toolCallId: 'call_1',
      code: 'tool-failed',
    },
    requests: true,
  },
  {
    name: 'the policy ignores',
    policy: ErrorPolicy.ignoreToolErrors(),
    contexts: context({ toolName: 'search' }),
    answer: { decision: 'allow', stopReason: undefined, reason: 'a tool error in search, ignored by the policy' },
    facts: {
      errorType: 'tool',
      consecutiveFailures: 1,
      totalFailures: 1,
      maxRetries: 0,
      handling: 'ignore',
      cause: 'policy',
      toolName: 'search',
    },
    requests: false,
  },
  {
    name: 'the retries are used up',
    policy: retry,
    contexts: context({ toolName: 'search', consecutiveFailures: 3, totalFailures: 3 }),
    answer: {
      decision: 'forbid',
      stopReason: 'retry_limit',
      reason: 'third failure in a row (limit 3), the last one a tool error in search',
    },
    facts: {
      errorType: 'tool',
      consecutiveFailures: 3,
      totalFailures: 3,
      maxRetries: 3,
      handling: 'stop',
      cause: 'retries-used-up',
      toolName: 'search',
    },
    requests: false,
  },
  {
    name: 'the provider asks for too long a wait',
    policy: retry,
    contexts: context({ type: 'rate_limit', retryAfterMs: 90_000 }),
    answer: {
      decision: 'forbid',
      stopReason: 'error',
      reason: 'the provider asked for a 90 s wait, but the policy waits at most 60 s (backoff.longestRetryAfterMs). Not retried',
    },
    facts: {
      errorType: 'rate_limit',
      consecutiveFailures: 1,
      totalFailures: 1,
      maxRetries: 3,
      handling: 'stop',
      cause: 'wait-too-long',
      toolName: null,
      retryAfterMs: 90_000,
      bound: 'longest-wait',
      boundMs: 60_000,
    },
    requests: false,
  },
  {
    name: 'the provider asks for a longer wait than there is time',
    policy: retry,
    contexts: context({ type: 'rate_limit', retryAfterMs: 45_500, remainingMs: 30_000 }),
    answer: {
      decision: 'forbid',
      stopReason: 'error',
      reason: 'the provider asked for a 45.5 s wait, but only 30 s of the time limit are left. Not retried',
    },
    facts: {
      errorType: 'rate_limit',
      consecutiveFailures: 1,
      totalFailures: 1,
      maxRetries: 3,
      handling: 'stop',
      cause: 'wait-too-long',
      toolName: null,
      retryAfterMs: 45_500,
      bound: 'time-left',
      boundMs: 30_000,
    },
    requests: false,
  },
  {
    name: 'the attempts are used up before the least span is over',
    policy: ErrorPolicy.retryAll(3).withMinRetrySpanMs(10_000),
    contexts: context({ type: 'model', consecutiveFailures: 4, totalFailures: 4, failureSpanMs: 7200 }),
    answer: {
      decision: 'allow',
      stopReason: undefined,
      reason: 'retry after a model error: fourth failure in a row after 7.2 s (limit: 3 failures and 10 s, whichever comes later)',
    },
    facts: {
      errorType: 'model',
      consecutiveFailures: 4,
      totalFailures: 4,
      maxRetries: 3,
      handling: 'retry',
      cause: 'policy',
      toolName: null,
      failureSpanMs: 7200,
      minRetrySpanMs: 10_000,
    },
    requests: true,
  },
  {
    name: 'the attempts and the least span are used up',
    policy: ErrorPolicy.retryAll(3).withMinRetrySpanMs(10_000),
    contexts: context({ type: 'model', consecutiveFailures: 5, totalFailures: 5, failureSpanMs: 12_345 }),
    answer: {
      decision: 'forbid',
      stopReason: 'retry_limit',
      reason: 'fifth failure in a row after 12.3 s (limit: 3 failures and 10 s, whichever comes later), the last one a model error',
    },
    facts: {
      errorType: 'model',
      consecutiveFailures: 5,
      totalFailures: 5,
      maxRetries: 3,
      handling: 'stop',
      cause: 'retries-used-up',
      toolName: null,
      failureSpanMs: 12_345,
      minRetrySpanMs: 10_000,
    },
    requests: false,
  },
  {
    name: 'trying again cannot help',
    policy: retry,
    contexts: context({ type: 'model', retryable: false, code: 'bad-request' }),
    answer: {
      decision: 'forbid',
      stopReason: 'error',
      reason: 'a model error that a retry cannot fix; the policy stops the run',
    },
    facts: {
      errorType: 'model',
      consecutiveFailures: 1,
      totalFailures: 1,
      maxRetries: 3,
      handling: 'stop',
      cause: 'not-retryable',
      toolName: null,
      code: 'bad-request',
    },
    requests: false,
  },
  {
    name: 'there is nothing for the model to read',
    policy: ErrorPolicy.ignoreToolErrors(),
    contexts: context({ type: 'validation', readable: false }),
    answer: {
      decision: 'forbid',
      stopReason: 'error',
      reason: 'a validation error that cannot be ignored, because the model has no result to read; the policy stops the run',
    },
    facts: {
      errorType: 'validation',
      consecutiveFailures: 1,
      totalFailures: 1,
      maxRetries: 0,
      handling: 'stop',
      cause: 'nothing-to-read',
      toolName: null,
    },
    requests: false,
  },
] as const;

describe.each(rows)('$name', ({ policy, contexts, answer, facts, requests }) => {
  const criterion = new ErrorPolicyCriterion(policy, resolver);
  const pending = new PendingRetry(policy, resolver);

  test(`ErrorPolicyCriterion answers ${answer.decision}, with its facts`, () => {
    const { decision, stopReason, reason } = answer;
    expect(criterion.explain(contexts)).toStrictEqual({
      criterion: 'ErrorPolicyCriterion',
      decision,
      reason,
      ...(stopReason !== undefined && { stopReason }),
      context: facts,
    });
    expect(criterion.decide(contexts)).toBe(decision);
  });

  test(`PendingRetry ${requests ? 'requests' : 'has no opinion'}`, () => {
    expect(pending.explain(contexts)).toStrictEqual(
      requests
        ? { criterion: 'PendingRetry', decision: 'request', reason: answer.reason, context: facts }
        : { criterion: 'PendingRetry', decision: 'allow', reason: 'nothing to retry', context: {} },
    );
    expect(pending.decide(contexts)).toBe(requests ? 'request' : 'allow');
  });

  test('the facts go through JSON unchanged', () => {
    const { context: given } = criterion.explain(contexts);
    expect(JSON.parse(JSON.stringify(given))).toStrictEqual(given);
  });
});

describe('several failures in a step', () => {
  const policy = ErrorPolicy.retryAll(3).withTool('fatal', 'stop').withTool('cosmetic', 'ignore');
  const failures = [
    context({ toolName: 'cosmetic', toolCallId: 'call_1' }),
    context({ toolName: 'flaky', toolCallId: 'call_2' }),
    context({ toolName: 'fatal', toolCallId: 'call_3' }),
  ];

  test('the trace names the call that decided', () => {
    for (const order of [failures, failures.toReversed()]) {
      expect(new ErrorPolicyCriterion(policy, resolver).explain(order)).toMatchObject({
        decision: 'forbid',
        reason: 'the policy stops the run on a tool error in fatal',
        context: { toolName: 'fatal', toolCallId: 'call_3' },
      });
    }
  });

  test('without a stop among them, the one to retry requests', () => {
    for (const order of [failures.slice(0, 2), failures.slice(0, 2).toReversed()]) {
      expect(new PendingRetry(policy, resolver).explain(order)).toMatchObject({ decision: 'request', context: { toolName: 'flaky' } });
    }
  });

  test('an empty list means that nothing failed', () => {
    expect(new ErrorPolicyCriterion(policy, resolver).explain([]).reason).toBe('nothing failed');
    expect(new PendingRetry(policy, resolver).decide([])).toBe('allow');
  });
});

describe('the two together with a work driver', () => {
  const judge = (contexts: Contexts): string => {
    const criteria = [
      new ErrorPolicyCriterion(retry, resolver),
      new ToolCallPresenceCheck<Contexts>(() => false),
      new PendingRetry(retry, resolver),
    ];
    const outcomes = [criteria, criteria.toReversed()].map((order) => ContinuationCriteria.from<Contexts>(...order).evaluate(contexts));
    const [first, second] = outcomes.map(({ decision, resolvedBy }) => `${decision} by ${resolvedBy}`);
    expect(first).toBe(second);
    return first ?? '';
  };

  test('a failed step without tool calls is retried all the same (C20)', () => {
    expect(judge(context({ type: 'model', readable: false }))).toBe('request by PendingRetry');
  });

  test('when retries are used up, the guard forbids', () => {
    expect(judge(context({ type: 'model', consecutiveFailures: 3 }))).toBe('forbid by ErrorPolicyCriterion');
  });

  test('a step without failures ends as it would without them', () => {
    expect(judge(ErrorContext.none())).toBe('stop by ToolCallPresenceCheck');
  });
});
