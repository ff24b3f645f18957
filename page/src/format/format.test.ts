import { describe, expect, it } from 'vitest';
import { formatAge, formatClock, formatCount, formatDuration, formatShort, formatShortAge, formatTime } from './format.ts';
import { describeMeter, getFill, getLevel, nameMeter } from './meters.ts';
import { describeCall, describeStatus, describeWait } from './status.ts';
import { toPlainSummary } from './summary.ts';

describe('numbers', () => {
  it.each<[number, string]>([
    [0, '0'],
    [999, '999'],
    [4_084, '4,084'],
    [31_240, '31 k'],
    [500_000, '500 k'],
    [999_499, '999 k'],
    [999_500, '1 M'],
    [1_250_000, '1.3 M'],
  ])('%d is %s in short', (value, text) => {
    expect(formatShort(value)).toBe(text);
  });

  it('are written in full with separators', () => {
    expect([1_234_567, 0.125, 3].map(formatCount)).toEqual(['1,234,567', '0.13', '3']);
  });
});

describe('durations', () => {
  it.each<[number, string]>([
    [-5, '0 ms'],
    [340, '340 ms'],
    [999.6, '1 s'],
    [4_240, '4.2 s'],
    [9_960, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min'],
    [185_000, '3 min 5 s'],
    [3_600_000, '1 h'],
    [32_520_000, '9 h 2 min'],
    [183_600_000, '2 d 3 h'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('of a clock that ticks have no fractions', () => {
    expect([-300, 0, 999, 1_900, 9_999, 61_500].map(formatClock)).toEqual(['0 s', '0 s', '0 s', '1 s', '9 s', '1 min 1 s']);
  });
});

describe('times', () => {
  const now = Date.parse('2026-11-17T12:00:00Z');
  const ago = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();

  it.each<[number, string, string]>([
    [-60, 'just now', 'now'],
    [44, 'just now', 'now'],
    [60, '1 min ago', '1 min'],
    [3_000, '50 min ago', '50 min'],
    [7_200, '2 h ago', '2 h'],
    [200_000, '2 d ago', '2 d'],
  ])('%d seconds ago is %s', (seconds, text, short) => {
    expect(formatAge(ago(seconds), now)).toBe(text);
    expect(formatShortAge(ago(seconds), now)).toBe(short);
  });

  it('of another day have their day', () => {
    expect(formatTime(ago(0), now)).toMatch(/^\d\d:\d\d$/);
    expect(formatTime(ago(200_000), now)).toMatch(/^15 Nov, \d\d:\d\d$/);
    expect([formatTime('', now), formatAge('nonsense', now)]).toEqual(['', '']);
  });
});

describe('meters', () => {
  it.each<[Parameters<typeof describeMeter>[0], string]>([
    [{ value: 12, limit: 20, unit: 'steps' }, 'Steps: 12 of 20'],
    [{ value: 31_240, limit: 500_000, unit: 'tokens' }, 'Tokens: 31 k of 500 k'],
    [{ value: 0.304, limit: 300, unit: 'seconds' }, 'Time: 304 ms of 5 min'],
    [{ value: 1.2, limit: 5, unit: 'usd' }, 'Cost: 1.20 of 5.00 USD'],
    [{ value: 2, limit: 3, unit: 'failures' }, 'Failures in a row: 2 of 3'],
    [{ value: 2, limit: 3 }, 'Reputation: 2 of 3'],
  ])('%j is %s', (meter, text) => {
    expect(`${nameMeter(meter, 'Reputation')}: ${describeMeter(meter)}`).toBe(text);
  });

  it('has another name for run time than for active time', () => {
    const meter = { value: 1, limit: 300, unit: 'seconds' };
    const names = ['ExecutionTimeLimit', 'CumulativeExecutionTimeLimit'].map((criterion) => nameMeter(meter, criterion));
    expect(names).toEqual(['Run time', 'Active time']);
  });

  it.each<[number, number, number, string]>([
    [0, 20, 0, 'calm'],
    [15, 20, 0.75, 'calm'],
    [16, 20, 0.8, 'near'],
    [20, 20, 1, 'full'],
    [25, 20, 1, 'full'],
    [-1, 20, 0, 'calm'],
    [0, 0, 1, 'full'],
  ])('%d of %d fills %d and is %s', (value, limit, fill, level) => {
    expect([getFill({ value, limit }), getLevel({ value, limit })]).toEqual([fill, level]);
  });
});

describe('states in words', () => {
  it.each<[Parameters<typeof describeStatus>, string]>([
    [['pending'], 'Ready'],
    [['in_progress'], 'Running'],
    [['waiting', [{ type: 'approval' }]], 'Waiting for approval'],
    [['waiting', [{ type: 'client-tool' }]], 'Waiting for an answer'],
    [['waiting', [{ type: 'grant', wait_id: 'grant/steps' }]], 'Waiting for more steps'],
    [['waiting', [{ type: 'grant', limit: 'wall' }]], 'Waiting for more time'],
    [['waiting', [{ type: 'something-new' }]], 'Waiting'],
    [['completed'], 'Completed'],
    [['stopped', [], 'steps_limit'], 'Stopped: step limit'],
    [['stopped', [], 'some_new_reason'], 'Stopped: some new reason'],
    [['stopped'], 'Stopped'],
    [['failed'], 'Failed'],
    [['some_new_status'], 'Some new status'],
  ])('%j is %s', (args, text) => {
    expect(describeStatus(...args).text).toBe(text);
  });

  it('name calls, those of a status that is not known as failed', () => {
    expect(['succeeded', 'unknown', 'timed_out'].map((status) => describeCall(status).text)).toEqual([
      'Done',
      'May or may not have taken effect',
      'Failed',
    ]);
    expect(describeWait({ type: 'provider' })).toBe('Waiting for the provider');
  });
});

describe('summaries', () => {
  it.each<[string, string]>([
    ['query: 5', 'query: 5'],
    ['{"to":"ann","amount":5}', 'to: ann, amount: 5'],
    ['{"body":"Dear Ann,\\n\\nour \\"records\\"","cc":["bob","eve"]', 'body: Dear Ann, our records, cc: bob,eve'],
    ['{"body":"cut in the mid', 'body: cut in the mid'],
  ])('%j reads %j', (summary, text) => {
    expect(toPlainSummary(summary)).toBe(text);
  });
});
