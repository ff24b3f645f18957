import { describe, expect, test } from 'vitest';
import { SteplineError } from '../lib/index.ts';
import { ModelFailedError } from './model-failed-error.ts';
import { RateLimitedError } from './rate-limited-error.ts';
import { TimedOutError } from './timed-out-error.ts';
import { ToolFailedError } from './tool-failed-error.ts';
import { ValidationFailedError } from './validation-failed-error.ts';

describe.each([
  ['ToolFailedError', ToolFailedError, 'tool-failed', 'tool'],
  ['ModelFailedError', ModelFailedError, 'model-failed', 'model'],
  ['ValidationFailedError', ValidationFailedError, 'validation-failed', 'validation'],
  ['RateLimitedError', RateLimitedError, 'rate-limited', 'rate_limit'],
  ['TimedOutError', TimedOutError, 'timed-out', 'timeout'],
] as const)('%s', (name, ErrorClass, code, type) => {
  test(`has the name ${name}, the code ${code} and the type ${type}`, () => {
    const error = new ErrorClass('it broke');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, code, type, message: 'it broke', retryable: true });
    expect(String(error)).toBe(`${name}: it broke`);
    expect(SteplineError.is(error)).toBe(true);
  });

  test('keeps its cause, its retryability and the wait that was asked for', () => {
    const cause = new Error('below');
    const error = new ErrorClass('it broke', { cause, retryable: false, retryAfterMs: 0 });
    expect(error.cause).toBe(cause);
    expect(error).toMatchObject({ retryable: false, retryAfterMs: 0 });
  });

  test('has no key for a wait or a cause that nobody named', () => {
    const error = new ErrorClass('it broke');
    expect('retryAfterMs' in error).toBe(false);
    expect('cause' in error).toBe(false);
  });

  test('goes through JSON as plain data', () => {
    const text = JSON.stringify(new ErrorClass('it broke', { cause: new Error('below'), retryAfterMs: 5 }));
    expect(JSON.parse(text)).toStrictEqual({ name, code, type, retryable: true, retryAfterMs: 5 });
  });
});

describe('recognising our errors', () => {
  test('an error of another copy of the package is recognised by its brand', () => {
    const foreign = Object.defineProperty(new Error('from the other copy'), Symbol.for('stepline.error'), { value: true });
    expect(SteplineError.is(foreign)).toBe(true);
    expect(foreign).not.toBeInstanceOf(SteplineError);
  });

  test.each([undefined, null, 'stepline.error', 7, {}, new Error('plain')])('%o is none of ours', (value) => {
    expect(SteplineError.is(value)).toBe(false);
  });
});
