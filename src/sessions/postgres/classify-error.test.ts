import { describe, expect, test } from 'vitest';
import {
  isConnectionLost,
  isOutcomeUnknown,
  isPassing,
  LostCommitError,
  mayBeOneWrite,
  NoAnswerError,
  toSessionError,
  toStoreError,
} from './classify-error.ts';
import { RowChangedError } from '../table/index.ts';

const fromServer = (code: string, severity = 'ERROR'): Error => Object.assign(new Error('said'), { code, severity });
const fromSystem = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'read' });

describe('an error', () => {
  test.each<readonly [string, unknown, boolean]>([
    ['a connection that ended', new Error('Connection terminated unexpectedly'), true],
    ['a connection that was refused', fromSystem('ECONNREFUSED'), true],
    ['a broken pipe', fromSystem('EPIPE'), true],
    ['several addresses that refused', new AggregateError([fromSystem('ECONNREFUSED')]), true],
    ['no answer', new NoAnswerError('none'), true],
    ['a server that shuts down', fromServer('57P01', 'FATAL'), true],
    ['a server that starts', fromServer('57P03', 'FATAL'), true],
    ['too many connections', fromServer('53300', 'FATAL'), true],
    ['a lost commit, which must not simply be tried again', new LostCommitError({}, new Error('Connection terminated')), false],
    ['a statement that failed', fromServer('23505'), false],
    ['a mistake in code', new TypeError('undefined is not a function'), false],
  ])('counts as a lost connection, or not: %s', (_, error, isLost) => {
    expect(isConnectionLost(error)).toBe(isLost);
  });

  test.each<readonly [string, unknown, boolean]>([
    ['a connection that ended', new Error('Connection terminated unexpectedly'), true],
    ['a broken pipe', fromSystem('EPIPE'), true],
    ['no answer', new NoAnswerError('none'), true],
    ['a server that shuts down', fromServer('57P01', 'FATAL'), true],
    ['a server that says it does not know', fromServer('40003'), true],
    ['any fatal error', fromServer('XX000', 'FATAL'), true],
    ['a serialization failure', fromServer('40001'), false],
    ['a full disk', fromServer('53100'), false],
  ])('of a commit leaves its outcome open, or not: %s', (_, error, isUnknown) => {
    expect(isOutcomeUnknown(error)).toBe(isUnknown);
  });

  test.each<readonly [unknown, string]>([
    [fromServer('53100'), 'full'],
    [fromServer('25006'), 'read-only'],
    [fromServer('42501'), 'read-only'],
    [fromServer('40001'), 'busy'],
    [fromServer('55P03'), 'busy'],
    [new RowChangedError('x'), 'busy'],
    [new Error('Cannot use a pool after calling end on the pool'), 'closed'],
    [fromServer('XX000'), 'failed'],
    [new Error('?'), 'failed'],
  ])('has a problem of the port: %s', (error, problem) => {
    expect(toStoreError(error)).toMatchObject({ code: 'store-unavailable', problem });
  });

  test.each<readonly [string, string, boolean]>([
    ['23505', 'session-damaged', true],
    ['XX001', 'session-damaged', true],
    ['22021', 'session-damaged', true],
    ['54000', 'invalid-argument', true],
    ['22003', 'invalid-argument', true],
    ['53100', 'store-unavailable', false],
    ['40001', 'store-unavailable', false],
  ])('of one session is its damage, its fault or the fault of the store: %s is %s', (state, code, isOne) => {
    expect(toSessionError('s', fromServer(state))).toMatchObject({ code });
    expect(mayBeOneWrite(fromServer(state))).toBe(isOne);
  });

  test('passes if others got in the way', () => {
    expect([fromServer('40001'), fromServer('40P01'), new RowChangedError('x'), fromServer('23505')].map(isPassing)).toStrictEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
