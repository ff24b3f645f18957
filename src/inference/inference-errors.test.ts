import { expect, test } from 'vitest';
import { classifyError, ErrorPolicy } from '../errors/index.ts';
import { ContextOverflowError } from './context-overflow-error.ts';
import { EmptyResponseError } from './empty-response-error.ts';
import { StreamInterruptedError } from './stream-interrupted-error.ts';

test.each([
  [new ContextOverflowError('x'), 'ContextOverflowError', 'context-overflow', false],
  [new EmptyResponseError('x'), 'EmptyResponseError', 'empty-response', true],
  [new StreamInterruptedError('x'), 'StreamInterruptedError', 'stream-interrupted', true],
] as const)('%s is a model failure with a code of its own', (error, name, code, retryable) => {
  expect(error.name).toBe(name);
  expect(classifyError(error)).toStrictEqual({ type: 'model', code, message: 'x', retryable });
  const decision = ErrorPolicy.retryAll().evaluate({ ...classifyError(error), consecutiveFailures: 1, totalFailures: 1 });
  expect(decision).toBe(retryable ? 'retry' : 'stop');
});

test('an overfull context may be retried where its thrower says so', () => {
  expect(new ContextOverflowError('x', { retryable: true }).retryable).toBe(true);
});
