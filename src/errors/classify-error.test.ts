import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClassifiedError } from './classified-error.ts';
import { classifyError, isAbort } from './classify-error.ts';
import { ErrorType } from './error-type.ts';
import { ModelFailedError } from './model-failed-error.ts';
import { RateLimitedError } from './rate-limited-error.ts';
import { TimedOutError } from './timed-out-error.ts';
import { ToolFailedError } from './tool-failed-error.ts';
import { ValidationFailedError } from './validation-failed-error.ts';

const wrap = (error: unknown, times = 1): Error =>
  times === 0 ? (error as Error) : new Error(`wrapped ${times}`, { cause: wrap(error, times - 1) });

describe('an error that knows its kind', () => {
  test.each([
    [new ToolFailedError('x'), 'tool', 'tool-failed'],
    [new ModelFailedError('x'), 'model', 'model-failed'],
    [new ValidationFailedError('x'), 'validation', 'validation-failed'],
    [new RateLimitedError('x'), 'rate_limit', 'rate-limited'],
    [new TimedOutError('x'), 'timeout', 'timed-out'],
  ] as const)('%s becomes plain data of type %s', (error: ClassifiedError, type, code) => {
    expect(classifyError(error, { fallback: 'unknown' })).toStrictEqual({ type, code, message: 'x', retryable: true });
  });

  test('hands on that it cannot be retried, and the wait that was asked for', () => {
    const error = new RateLimitedError('x', { retryable: false, retryAfterMs: 1500 });
    expect(classifyError(error)).toMatchObject({ retryable: false, retryAfterMs: 1500 });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('does not hand on a wait of %d ms', (retryAfterMs) => {
    expect('retryAfterMs' in classifyError(new RateLimitedError('x', { retryAfterMs }))).toBe(false);
  });

  test('is recognised when another copy of the package made it', () => {
    class OtherRateLimitedError extends Error {
      readonly type = 'rate_limit';
      readonly code = 'rate-limited';
      readonly retryable = true;
      readonly retryAfterMs = 20;
    }
    const foreign = Object.defineProperty(new OtherRateLimitedError('x'), Symbol.for('stepline.error'), { value: true });
    expect(classifyError(foreign)).toStrictEqual({
      type: 'rate_limit',
      code: 'rate-limited',
      message: 'x',
      retryable: true,
      retryAfterMs: 20,
    });
  });

  test('a foreign error with a field named type is not taken for one of ours', () => {
    expect(classifyError(Object.assign(new Error('x'), { type: 'rate_limit', retryable: false }))).toMatchObject({
      type: 'unknown',
      retryable: true,
    });
  });
});

describe('the cause chain', () => {
  test.each([1, 2, 31, 32, 33, 100])('a rate limit wrapped %i times stays a rate limit, with its wait (C38)', (times) => {
    const failure = classifyError(wrap(new RateLimitedError('slow down', { retryAfterMs: 700 }), times), { fallback: 'tool' });
    expect(failure).toMatchObject({ type: 'rate_limit', retryAfterMs: 700, message: `wrapped ${times}` });
  });

  test.each([
    ['rate_limit', new RateLimitedError('below')],
    ['timeout', new TimedOutError('below')],
    ['timeout', new DOMException('below', 'TimeoutError')],
  ] as const)('a %s below a tool or model error decides the type', (type, cause) => {
    expect(classifyError(new ToolFailedError('above', { cause })).type).toBe(type);
    expect(classifyError(new ModelFailedError('above', { cause }))).toMatchObject({ type, retryable: true });
  });

  test('otherwise the outermost kind decides', () => {
    const inner = new ValidationFailedError('below');
    expect(classifyError(new ToolFailedError('above', { cause: inner })).type).toBe('tool');
    expect(classifyError(wrap(new ToolFailedError('middle', { cause: inner }))).type).toBe('tool');
  });

  test('the code and the message are those of what was thrown', () => {
    const error = Object.assign(wrap(new RateLimitedError('below')), { code: 'EOUTER' });
    expect(classifyError(error)).toMatchObject({ code: 'EOUTER', message: 'wrapped 1' });
  });

  test('may go round in a circle', () => {
    const [first, second] = [new Error('first'), new Error('second')];
    first.cause = second;
    second.cause = first;
    expect(classifyError(first)).toMatchObject({ type: 'unknown', message: 'first' });
    const self = new Error('self');
    self.cause = self;
    expect(isAbort(self)).toBe(false);
  });

  test('may have no end', () => {
    class Endless extends Error {
      override get cause(): Error {
        return new Endless('deeper');
      }
    }
    expect(classifyError(new Endless('top')).message).toBe('top');
  });

  test('may end in something that is no error', () => {
    expect(classifyError(new Error('top', { cause: 'a string' })).type).toBe('unknown');
    expect(classifyError({ message: 'plain object', cause: new TimedOutError('late') })).toMatchObject({
      type: 'timeout',
      message: 'plain object',
    });
  });
});

test('what AbortSignal.timeout() throws is a timeout', () => {
  expect(classifyError(new DOMException('The operation timed out.', 'TimeoutError'))).toStrictEqual({
    type: 'timeout',
    code: 'unclassified',
    message: 'The operation timed out.',
    retryable: true,
  });
});

describe('anything can be thrown', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const throwing = (...keys: readonly string[]): object => {
    const target = new Error('hidden');
    for (const key of keys) {
      Object.defineProperty(target, key, {
        get: () => {
          throw new Error(`${key} cannot be read`);
        },
      });
    }
    return target;
  };

  test.each([
    ['a string', 'it broke', 'it broke'],
    ['an empty string', '', '""'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a number', 42, '42'],
    ['a big integer', 10n, 'a thrown bigint that cannot be shown'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object', { status: 500 }, '{"status":500}'],
    ['an object with a message', { message: 'said so' }, 'said so'],
    ['an object with a message that is no text', { message: 5 }, '{"message":5}'],
    ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
    ['an object that refers to itself', circular, 'a thrown object that cannot be shown'],
    ['a frozen error', Object.freeze(new Error('frozen')), 'frozen'],
    ['an error without words', new TypeError(''), 'TypeError'],
    ['an error whose message cannot be read', throwing('message'), 'Error'],
    ['an error that cannot be read at all', throwing('message', 'code', 'cause', 'name', 'type', 'toJSON'), /cannot be shown/],
    ['an object whose message cannot be read', Object.setPrototypeOf(throwing('message'), null) as object, '{}'],
    ['a revoked proxy', proxy, 'a thrown object that cannot be shown'],
  ])('%s', (_name, thrown, message) => {
    const failure = classifyError(thrown);
    expect(failure).toStrictEqual({ type: 'unknown', code: 'unclassified', message: failure.message, retryable: true });
    if (typeof message === 'string') expect(failure.message).toBe(message);
    else expect(failure.message).toMatch(message);
    expect(isAbort(thrown)).toBe(false);
  });

  test('whatever it is, the failure is plain data with words in it', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true }), (thrown) => {
        const failure = classifyError(thrown);
        expect(JSON.parse(JSON.stringify(failure))).toStrictEqual(failure);
        expect(failure.message).not.toBe('');
        expect(isAbort(thrown)).toBe(false);
      }),
    );
  });
});

describe('what the caller knows', () => {
  test.each(Object.values(ErrorType))('the fallback %s stands where nothing in the chain names a type', (fallback) => {
    expect(classifyError(wrap(new Error('x')), { fallback }).type).toBe(fallback);
  });

  test('the tool, its call and whether the model can read of it are written down', () => {
    const failure = classifyError(new Error('x'), { fallback: 'tool', toolName: 'search', toolCallId: 'call_1', readable: true });
    expect(failure).toStrictEqual({
      type: 'tool',
      code: 'unclassified',
      message: 'x',
      retryable: true,
      toolName: 'search',
      toolCallId: 'call_1',
      readable: true,
    });
  });

  test('a code of the foreign error is kept, a number or an empty text is not', () => {
    expect(classifyError(Object.assign(new Error('x'), { code: 'ECONNRESET' })).code).toBe('ECONNRESET');
    expect(classifyError(Object.assign(new Error('x'), { code: 42 })).code).toBe('unclassified');
    expect(classifyError(Object.assign(new Error('x'), { code: '' })).code).toBe('unclassified');
  });
});

describe('an abort', () => {
  const abort = new DOMException('This operation was aborted', 'AbortError');

  test.each([0, 1, 5])('is seen through %i wrappings', (times) => {
    expect(isAbort(wrap(abort, times))).toBe(true);
    expect(isAbort(new ToolFailedError('x', { cause: wrap(abort, times) }))).toBe(true);
  });

  test.each([new DOMException('late', 'TimeoutError'), new TimedOutError('x'), new Error('AbortError'), 'AbortError', null, undefined])(
    '%o is none',
    (error) => {
      expect(isAbort(error)).toBe(false);
    },
  );
});

test('a wrapper that says trying again cannot help is believed over its cause', () => {
  const error = new ToolFailedError('the order was placed already', { retryable: false, cause: new TimedOutError('too slow') });
  expect(classifyError(error)).toMatchObject({ type: 'timeout', retryable: false });
});
