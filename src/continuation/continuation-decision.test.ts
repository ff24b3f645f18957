import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import { canContinueWith, ContinuationDecision, isContinuationDecision } from './continuation-decision.ts';
import { isStopReason, StopReason } from './stop-reason.ts';

test('there are four decisions, with the wire values of the documents', () => {
  expect(ContinuationDecision).toStrictEqual({
    ForbidContinuation: 'forbid',
    AllowContinuation: 'allow',
    RequestContinuation: 'request',
    AllowStop: 'stop',
  });
});

test('there are nine stop reasons, with the wire values of the documents', () => {
  expect(StopReason).toStrictEqual({
    Completed: 'completed',
    StepsLimitReached: 'steps_limit',
    TokenLimitReached: 'token_limit',
    TimeLimitReached: 'time_limit',
    RetryLimitReached: 'retry_limit',
    ErrorForbade: 'error',
    FinishReasonReceived: 'finish_reason',
    GuardForbade: 'guard',
    UserRequested: 'user_requested',
  });
});

test('the wire values are recognised, and nothing else is', () => {
  for (const decision of Object.values(ContinuationDecision)) expect(isContinuationDecision(decision)).toBe(true);
  for (const reason of Object.values(StopReason)) expect(isStopReason(reason)).toBe(true);
  for (const other of [undefined, null, true, '', 'Forbid', 'constructor', ['forbid']]) {
    expect(isContinuationDecision(other)).toBe(false);
    expect(isStopReason(other)).toBe(false);
  }
});

describe('the truth table', () => {
  // Behaviour 1.2: F R A S say whether somebody forbids, requests, allows, allows to stop.
  test.each([
    [1, [], false],
    [2, ['stop'], false],
    [3, ['allow'], true],
    [4, ['allow', 'stop'], false],
    [5, ['request'], true],
    [6, ['request', 'stop'], true],
    [7, ['request', 'allow'], true],
    [8, ['request', 'allow', 'stop'], true],
    [9, ['forbid'], false],
    [10, ['forbid', 'stop'], false],
    [11, ['forbid', 'allow'], false],
    [12, ['forbid', 'allow', 'stop'], false],
    [13, ['forbid', 'request'], false],
    [14, ['forbid', 'request', 'stop'], false],
    [15, ['forbid', 'request', 'allow'], false],
    [16, ['forbid', 'request', 'allow', 'stop'], false],
  ] as const)('row %i: %j goes on: %s', (_row, decisions, goesOn) => {
    const list: readonly ContinuationDecision[] = decisions;
    expect(canContinueWith(...list)).toBe(goesOn);
    expect(canContinueWith(...list.toReversed())).toBe(goesOn);
    expect(canContinueWith(...list, ...list)).toBe(goesOn);
  });

  test('neither order nor repetition matters, whatever the list', () => {
    const decisions = fc.array(fc.constantFrom(...Object.values(ContinuationDecision)), { maxLength: 12 });
    const withShuffle = decisions.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(withShuffle, ([list, shuffled]) => {
        const expected = !list.includes('forbid') && (list.includes('request') || (list.includes('allow') && !list.includes('stop')));
        expect(canContinueWith(...list)).toBe(expected);
        expect(canContinueWith(...shuffled)).toBe(expected);
      }),
    );
  });
});

describe('canContinueWith()', () => {
  // Holds because this is what a caller without types can give.
  const withAny = canContinueWith as (...given: readonly unknown[]) => boolean;

  test.each([
    ['an unknown word', ['request', 'maybe'], 'not "maybe". Use forbid, allow, request or stop.'],
    ['a word after one that forbids', ['forbid', 'go'], 'not "go". Use forbid, allow, request or stop.'],
    ['a boolean', [true], 'not true. Use forbid, allow, request or stop.'],
    ['nothing', [undefined], 'not undefined.'],
    ['a list', [['request']], 'not a list. Pass decisions one by one: canContinueWith(...decisions).'],
    ['a set', [new Set(['request'])], 'Pass decisions one by one'],
  ])('refuses %s', (_name, given, message) => {
    expect(() => withAny(...given)).toThrow(InvalidArgumentError);
    expect(() => withAny(...given)).toThrow(message);
  });
});
