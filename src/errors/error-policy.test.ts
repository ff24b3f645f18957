import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import { ErrorContext } from './error-context.ts';
import type { ErrorHandlingDecision } from './error-handling-decision.ts';
import { ErrorPolicy } from './error-policy.ts';
import { ErrorType } from './error-type.ts';

const types = Object.values(ErrorType);
const context = (fields: Partial<ErrorContext> = {}): ErrorContext => ({
  type: 'tool',
  consecutiveFailures: 1,
  totalFailures: 1,
  ...fields,
});

const getHandlings = (policy: ErrorPolicy): Record<ErrorType, ErrorHandlingDecision> => ({
  tool: policy.onToolError,
  model: policy.onModelError,
  validation: policy.onValidationError,
  rate_limit: policy.onRateLimitError,
  timeout: policy.onTimeoutError,
  unknown: policy.onUnknownError,
});

function permutations<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

const presets = [
  {
    name: 'stopOnAnyError()',
    policy: ErrorPolicy.stopOnAnyError(),
    expected: { tool: 'stop', model: 'stop', validation: 'stop', rate_limit: 'stop', timeout: 'stop', unknown: 'stop' },
    maxRetries: 0,
  },
  {
    name: 'retryToolErrors()',
    policy: ErrorPolicy.retryToolErrors(),
    expected: { tool: 'retry', model: 'stop', validation: 'retry', rate_limit: 'retry', timeout: 'retry', unknown: 'stop' },
    maxRetries: 3,
  },
  {
    name: 'ignoreToolErrors()',
    policy: ErrorPolicy.ignoreToolErrors(),
    expected: { tool: 'ignore', model: 'stop', validation: 'ignore', rate_limit: 'retry', timeout: 'retry', unknown: 'ignore' },
    maxRetries: 0,
  },
  {
    name: 'retryAll()',
    policy: ErrorPolicy.retryAll(),
    expected: { tool: 'retry', model: 'retry', validation: 'retry', rate_limit: 'retry', timeout: 'retry', unknown: 'retry' },
    maxRetries: 5,
  },
] as const;

describe.each(presets)('the preset $name', ({ policy, expected, maxRetries }) => {
  test(`has ${maxRetries} attempts`, () => {
    expect(policy.maxRetries).toBe(maxRetries);
  });

  test.each(types)('has the documented handling of %s errors', (type) => {
    expect(getHandlings(policy)[type]).toBe(expected[type]);
  });

  test.each(types)('decides a first %s failure by it, and stops where there are no attempts', (type) => {
    const wanted = expected[type] === 'retry' && maxRetries === 0 ? 'stop' : expected[type];
    expect(policy.evaluate(context({ type }))).toBe(wanted);
  });

  test('has nothing to decide where nothing failed', () => {
    expect(policy.handle(ErrorContext.none())).toStrictEqual({
      decision: 'ignore',
      cause: 'no-error',
      context: ErrorContext.none(),
      maxRetries,
    });
    expect(policy.handle([])).toStrictEqual(policy.handle(ErrorContext.none()));
  });
});

describe('presets with a number of attempts', () => {
  test.each([
    ['retryToolErrors', ErrorPolicy.retryToolErrors],
    ['ignoreToolErrors', ErrorPolicy.ignoreToolErrors],
    ['retryAll', ErrorPolicy.retryAll],
  ] as const)('%s(7) has 7', (_name, preset) => {
    expect(preset(7).maxRetries).toBe(7);
  });

  test('ignoreToolErrors(2) retries a rate limit once (C37)', () => {
    const policy = ErrorPolicy.ignoreToolErrors(2);
    expect(policy.evaluate(context({ type: 'rate_limit' }))).toBe('retry');
    expect(policy.evaluate(context({ type: 'rate_limit', consecutiveFailures: 2 }))).toBe('stop');
    expect(policy.evaluate(context({ type: 'tool', consecutiveFailures: 99 }))).toBe('ignore');
  });
});

// maxRetries counts attempts (C35): with n of them, failures 1 to n-1 are retried and failure n ends the run.
const retryTable = [
  [0, ['stop', 'stop', 'stop', 'stop', 'stop']],
  [1, ['stop', 'stop', 'stop', 'stop', 'stop']],
  [2, ['retry', 'stop', 'stop', 'stop', 'stop']],
  [3, ['retry', 'retry', 'stop', 'stop', 'stop']],
  [5, ['retry', 'retry', 'retry', 'retry', 'stop']],
] as const;

describe.each(retryTable)('with maxRetries %i', (maxRetries, decisions) => {
  test.each([1, 2, 3, 4, 5])('failure %i in a row is decided as the table says', (consecutiveFailures) => {
    const expected = decisions[consecutiveFailures - 1];
    for (const type of types) {
      const handling = ErrorPolicy.retryAll(maxRetries).handle(context({ type, consecutiveFailures }));
      expect(handling.decision).toBe(expected);
      expect(handling.cause).toBe(expected === 'retry' ? 'policy' : 'retries-used-up');
      expect(handling.maxRetries).toBe(maxRetries);
    }
  });
});

test('only failures in a row count, not all failures of the run', () => {
  expect(ErrorPolicy.retryToolErrors(3).evaluate(context({ consecutiveFailures: 2, totalFailures: 40 }))).toBe('retry');
});

describe('with a least span of 10 s', () => {
  const policy = ErrorPolicy.retryAll(3).withMinRetrySpanMs(10_000);

  test.each([
    // [failures in a row, span, decision]
    [1, 0, 'retry'],
    [2, 60_000, 'retry'],
    [3, 0, 'retry'],
    [3, 9_999, 'retry'],
    [3, 10_000, 'stop'],
    [7, 9_999, 'retry'],
    [7, 10_000, 'stop'],
    [3, undefined, 'stop'],
  ] as const)(
    'failure %i in a row, %s ms after the first, is decided by both numbers: %s',
    (consecutiveFailures, failureSpanMs, decision) => {
      const facts = { consecutiveFailures, ...(failureSpanMs !== undefined && { failureSpanMs }) };
      for (const type of ['rate_limit', 'timeout', 'model', 'unknown'] as const)
        expect(policy.handle(context({ type, ...facts }))).toMatchObject({ decision, minRetrySpanMs: 10_000 });
    },
  );

  test.each([
    ['tool', 'search'],
    ['tool', undefined],
    ['validation', undefined],
    ['timeout', 'search'],
  ] as const)('a %s failure (tool: %s) is retried by number alone', (type, toolName) => {
    const failure = context({ type, consecutiveFailures: 3, failureSpanMs: 0, ...(toolName !== undefined && { toolName }) });
    expect(policy.handle(failure)).toMatchObject({ decision: 'stop', cause: 'retries-used-up' });
    expect(policy.handle(failure)).not.toHaveProperty('minRetrySpanMs');
  });

  test('a failure that cannot be retried still stops at once', () => {
    expect(policy.handle(context({ type: 'model', retryable: false, failureSpanMs: 0 }))).toMatchObject({
      decision: 'stop',
      cause: 'not-retryable',
    });
  });

  test('a provider that asks for no wait is waited for once the attempts are used up', () => {
    const failure = (consecutiveFailures: number): ErrorContext =>
      context({ type: 'rate_limit', consecutiveFailures, failureSpanMs: 0, retryAfterMs: 0 });
    expect([1, 2, 3, 4].map((count) => policy.delayMs(failure(count), () => 0))).toStrictEqual([0, 0, 2000, 4000]);
  });

  test('changes nothing else', () => {
    const before = ErrorPolicy.retryAll(3);
    expect(policy.toJSON()).toStrictEqual({ ...before.toJSON(), minRetrySpanMs: 10_000 });
    expect(presets.map((preset) => preset.policy.minRetrySpanMs)).toStrictEqual([0, 0, 0, 0]);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a span of %d', (bad) => {
    expect(() => policy.withMinRetrySpanMs(bad)).toThrow(`minRetrySpanMs must be a number of 0 or more, not ${String(bad)}.`);
  });
});

const setters = [
  ['tool', 'withToolErrorHandling'],
  ['model', 'withModelErrorHandling'],
  ['validation', 'withValidationErrorHandling'],
  ['rate_limit', 'withRateLimitErrorHandling'],
  ['timeout', 'withTimeoutErrorHandling'],
  ['unknown', 'withUnknownErrorHandling'],
] as const;

describe.each(setters)('the handling of %s errors', (type, setter) => {
  test.each(['stop', 'retry', 'ignore'] as const)(`${setter}('%s') changes it and nothing else`, (decision) => {
    for (const { policy, expected, maxRetries } of presets) {
      const changed = policy[setter](decision);
      expect(getHandlings(changed)).toStrictEqual({ ...expected, [type]: decision });
      expect(changed.maxRetries).toBe(maxRetries);
      expect(getHandlings(policy)).toStrictEqual(expected);
    }
  });
});

describe('withMaxRetries', () => {
  test('changes the number of attempts and nothing else', () => {
    const policy = ErrorPolicy.retryToolErrors(3).withTool('search', 'stop').withBackoff({ baseMs: 1 });
    const changed = policy.withMaxRetries(9);
    expect(changed.toJSON()).toStrictEqual({ ...policy.toJSON(), maxRetries: 9 });
    expect(policy.maxRetries).toBe(3);
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d, wherever it is given', (bad) => {
    const message = `maxRetries must be a whole number of 0 or more, not ${String(bad)}.`;
    const policy = ErrorPolicy.stopOnAnyError();
    expect(() => policy.withMaxRetries(bad)).toThrow(new InvalidArgumentError(message));
    expect(() => ErrorPolicy.retryToolErrors(bad)).toThrow(message);
    expect(() => ErrorPolicy.ignoreToolErrors(bad)).toThrow(message);
    expect(() => ErrorPolicy.retryAll(bad)).toThrow(message);
    expect(() => policy.withTool('search', { maxRetries: bad })).toThrow(message);
  });
});

describe('a rule for one tool', () => {
  const base = ErrorPolicy.stopOnAnyError();

  test.each(types)('holds for its %s failures and for no other tool', (type) => {
    const policy = base.withTool('search', 'ignore');
    expect(policy.evaluate(context({ type, toolName: 'search' }))).toBe('ignore');
    expect(policy.evaluate(context({ type, toolName: 'other' }))).toBe('stop');
    expect(policy.evaluate(context({ type }))).toBe('stop');
  });

  test('can have attempts of its own, and reports them', () => {
    const policy = ErrorPolicy.retryToolErrors(2).withTool('flaky', { maxRetries: 4 });
    const third = context({ toolName: 'flaky', consecutiveFailures: 3 });
    expect(policy.handle(third)).toMatchObject({ decision: 'retry', maxRetries: 4 });
    expect(policy.handle({ ...third, consecutiveFailures: 4 })).toMatchObject({ decision: 'stop', cause: 'retries-used-up' });
    expect(policy.handle({ ...third, toolName: 'other' })).toMatchObject({ decision: 'stop', maxRetries: 2 });
  });

  test('given twice, adds to what was said before', () => {
    const policy = base.withTool('flaky', 'retry').withTool('flaky', { maxRetries: 2 });
    expect(policy.tools).toStrictEqual({ flaky: { handling: 'retry', maxRetries: 2 } });
    expect(policy.withTool('flaky', 'ignore').tools).toStrictEqual({ flaky: { handling: 'ignore', maxRetries: 2 } });
  });

  test('leaves the old policy as it was', () => {
    base.withTool('search', 'ignore');
    expect(base.tools).toStrictEqual({});
    expect(base.evaluate(context({ toolName: 'search' }))).toBe('stop');
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', ''])('is never found by accident for a tool named "%s"', (name) => {
    const policy = ErrorPolicy.retryToolErrors(3);
    expect(policy.handle(context({ toolName: name }))).toMatchObject({ decision: 'retry', cause: 'policy', maxRetries: 3 });
  });

  test.each(['constructor', '__proto__'])('can be given to a tool named "%s", and survives further changes', (name) => {
    const policy = base.withTool(name, { handling: 'retry', maxRetries: 2 }).withTool('other', 'stop').withMaxRetries(1);
    expect(policy.handle(context({ toolName: name }))).toMatchObject({ decision: 'retry', maxRetries: 2 });
    expect(Object.hasOwn(policy.tools, name)).toBe(true);
    expect(Object.getPrototypeOf(policy.tools)).toBe(Object.prototype);
    expect(JSON.stringify(policy)).toContain(JSON.stringify(name));
  });
});

describe('where the handling cannot be what the policy says', () => {
  test.each(types)('a %s failure that is not retryable ends the run instead of being retried', (type) => {
    expect(ErrorPolicy.retryAll(5).handle(context({ type, retryable: false }))).toMatchObject({
      decision: 'stop',
      cause: 'not-retryable',
    });
  });

  test('a failure that is not retryable can still be ignored', () => {
    expect(ErrorPolicy.ignoreToolErrors().handle(context({ retryable: false }))).toMatchObject({ decision: 'ignore', cause: 'policy' });
  });

  test('a failure is ignored only where the model has a result to read', () => {
    const policy = ErrorPolicy.ignoreToolErrors();
    expect(policy.handle(context({ readable: false }))).toMatchObject({ decision: 'stop', cause: 'nothing-to-read' });
    expect(policy.handle(context({ readable: true }))).toMatchObject({ decision: 'ignore', cause: 'policy' });
    expect(policy.handle(context())).toMatchObject({ decision: 'ignore', cause: 'policy' });
  });

  test.each([
    ['60 s', { retryAfterMs: 60_000 }, 'retry', 'policy'],
    ['more than 60 s', { retryAfterMs: 60_001 }, 'stop', 'wait-too-long'],
    ['just the time that is left', { retryAfterMs: 1000, remainingMs: 1000 }, 'retry', 'policy'],
    ['more than the time that is left', { retryAfterMs: 1001, remainingMs: 1000 }, 'stop', 'wait-too-long'],
  ] as const)('a provider that asks to wait %s', (_name, fields, decision, cause) => {
    expect(ErrorPolicy.retryAll().handle(context({ type: 'rate_limit', ...fields }))).toMatchObject({ decision, cause });
  });

  test('the longest wait can be set', () => {
    const policy = ErrorPolicy.retryAll().withBackoff({ longestRetryAfterMs: 10 });
    expect(policy.handle(context({ retryAfterMs: 11 }))).toMatchObject({ cause: 'wait-too-long' });
    expect(policy.backoff).toMatchObject({ baseMs: 1000, longestRetryAfterMs: 10 });
    expect(() => policy.withBackoff({ capMs: -1 })).toThrow(InvalidArgumentError);
  });
});

describe('several failures in one step', () => {
  const policy = ErrorPolicy.stopOnAnyError().withMaxRetries(3).withTool('r1', 'retry').withTool('r2', 'retry').withTool('i1', 'ignore');
  const failure = (toolName: string): ErrorContext => context({ toolName, toolCallId: `call-${toolName}` });

  test.each([
    [['i1', 'r1', 's1'], 'stop', ['s1']],
    [['s1', 's2', 'r1', 'i1'], 'stop', ['s1', 's2']],
    [['r1', 'r2', 'i1'], 'retry', ['r1', 'r2']],
    [['i1', 'r1'], 'retry', ['r1']],
    [['i1'], 'ignore', ['i1']],
  ] as const)('%j: %s, by the first of the gravest, in every order', (tools, decision, gravest) => {
    for (const order of permutations(tools)) {
      const handling = policy.handle(order.map(failure));
      expect(handling.decision).toBe(decision);
      expect(handling.context.toolName).toBe(order.find((tool) => (gravest as readonly string[]).includes(tool)));
    }
  });

  test('each failure is judged by its own facts: one that cannot be retried ends the run', () => {
    const contexts = [failure('r1'), { ...failure('r2'), retryable: false }];
    expect(policy.handle(contexts)).toMatchObject({ decision: 'stop', cause: 'not-retryable', context: { toolName: 'r2' } });
    expect(policy.handle(contexts.toReversed())).toMatchObject({ decision: 'stop', cause: 'not-retryable', context: { toolName: 'r2' } });
  });

  test('the decision about many is the gravest of the decisions about each', () => {
    const arbitrary = fc.record({
      type: fc.constantFrom(...types),
      consecutiveFailures: fc.nat(6),
      totalFailures: fc.nat(6),
      retryable: fc.boolean(),
      readable: fc.boolean(),
      retryAfterMs: fc.constantFrom(0, 60_000, 60_001),
    });
    const preset = fc.constantFrom(...presets.map((row) => row.policy));
    fc.assert(
      fc.property(preset, fc.array(arbitrary, { maxLength: 6 }), (given, contexts) => {
        const each = contexts.map((one) => given.evaluate(one));
        const gravest = (['stop', 'retry', 'ignore'] as const).find((decision) => each.includes(decision)) ?? 'ignore';
        expect(given.handle(contexts).decision).toBe(gravest);
        expect(given.handle(contexts.toReversed()).decision).toBe(gravest);
      }),
    );
  });
});

describe('the wait before a retry', () => {
  const policy = ErrorPolicy.retryAll();

  test('is the longest that any of the failures wants', () => {
    const contexts = [context(), context({ type: 'model' }), context({ type: 'rate_limit', retryAfterMs: 300 })];
    expect(policy.withBackoff({ baseMs: 200 }).delayMs(contexts, () => 0.5)).toBe(300);
    expect(policy.delayMs(contexts.toReversed(), () => 0.99)).toBe(995);
  });

  test('does not count failures that are not retried', () => {
    const ignored = context({ type: 'rate_limit', toolName: 'search', retryAfterMs: 40_000 });
    expect(policy.withTool('search', 'ignore').delayMs([ignored, context()], () => 0.5)).toBe(0);
    expect(policy.delayMs(ErrorContext.none(), () => 0.5)).toBe(0);
    expect(policy.delayMs([], () => 0.5)).toBe(0);
  });
});

test('a policy is plain data for logs and fingerprints', () => {
  const policy = ErrorPolicy.retryToolErrors(2).withTool('search', { handling: 'ignore' });
  expect(JSON.parse(JSON.stringify(policy))).toStrictEqual({
    tool: 'retry',
    model: 'stop',
    validation: 'retry',
    rate_limit: 'retry',
    timeout: 'retry',
    unknown: 'stop',
    maxRetries: 2,
    minRetrySpanMs: 0,
    tools: { search: { handling: 'ignore' } },
    backoff: { baseMs: 1000, factor: 2, capMs: 30_000, longestRetryAfterMs: 60_000 },
  });
});

test('a word that is no handling is refused when the policy is made', () => {
  // Holds because this is what a caller without types can do.
  const word = 'panic' as ErrorHandlingDecision;
  expect(() => ErrorPolicy.stopOnAnyError().withToolErrorHandling(word)).toThrow(/Unknown error handling "panic"/);
  expect(() => ErrorPolicy.stopOnAnyError().withTool('search', word)).toThrow(/Unknown error handling "panic"/);
});

describe('new ErrorPolicy()', () => {
  test('stops at every kind of failure that it says nothing about', () => {
    const policy = new ErrorPolicy({ onToolError: 'ignore', onModelError: 'retry', maxRetries: 2, backoff: { baseMs: 5 } });
    expect(getHandlings(policy)).toEqual({ ...getHandlings(ErrorPolicy.stopOnAnyError()), tool: 'ignore', model: 'retry' });
    expect([policy.maxRetries, policy.backoff.baseMs, policy.backoff.factor]).toEqual([2, 5, 2]);
    expect(new ErrorPolicy().toJSON()).toEqual(ErrorPolicy.stopOnAnyError().toJSON());
  });

  test.each<[object, string]>([
    [{ onToolError: 'again' }, 'Unknown error handling "again". Use "stop", "retry" or "ignore".'],
    [{ maxRetries: 1.5 }, 'maxRetries must be a whole number of 0 or more, not 1.5.'],
    [{ tools: { pay: { handling: 'again' } } }, 'Unknown error handling "again". Use "stop", "retry" or "ignore".'],
    [{ tools: { pay: { maxRetries: -1 } } }, 'maxRetries must be a whole number of 0 or more, not -1.'],
    [{ backoff: { baseMs: -1 } }, 'backoff.baseMs must be a number of 0 or more, not -1.'],
    [{ onToolErrors: 'retry' }, 'Unknown option "onToolErrors" in new ErrorPolicy(). Did you mean "onToolError"?'],
  ])('refuses %j', (options, problem) => {
    expect(() => new ErrorPolicy(options)).toThrow(InvalidArgumentError);
    expect(() => new ErrorPolicy(options)).toThrow(problem);
  });
});
