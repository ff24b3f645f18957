import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../testing/index.ts';
import { StateInfo } from './state-info.ts';

const day = 24 * 60 * 60 * 1000;
const begin = Date.UTC(2026, 0, 1);
const create = (): StateInfo => StateInfo.create({ clock: createFakeClock(begin), ids: createCountingIds('session') });

describe('a new StateInfo', () => {
  test('takes its id and both its times from where it is told to, and has spent no time', () => {
    const { id, startedAt, updatedAt, cumulativeExecutionSeconds } = create();
    expect({ id, startedAt, updatedAt, cumulativeExecutionSeconds }).toStrictEqual({
      id: 'session-1',
      startedAt: begin,
      updatedAt: begin,
      cumulativeExecutionSeconds: 0,
    });
  });

  test('has ids and times of the machine where nothing is given', () => {
    const [one, other] = [StateInfo.create(), StateInfo.create()];
    expect(one.id).not.toBe(other.id);
    expect(Math.abs(one.startedAt - Date.now())).toBeLessThan(5000);
  });
});

describe('the constructor', () => {
  const fields = { id: 'session-1', startedAt: begin, updatedAt: begin + day };

  test('takes the parts, without time spent if none is given', () => {
    expect(new StateInfo(fields).toJSON()).toStrictEqual({
      id: 'session-1',
      startedAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-02T00:00:00.000Z',
      cumulativeExecutionSeconds: 0,
    });
    const info = new StateInfo({ ...fields, cumulativeExecutionSeconds: 2.5, executionStartedAt: begin + 1 });
    expect([info.cumulativeExecutionSeconds, info.executionStartedAt]).toStrictEqual([2.5, begin + 1]);
  });

  test.each([
    ['nothing', undefined, 'its parts must be an object, not undefined'],
    ['an empty id', { ...fields, id: '' }, 'id must be a non-empty string, not ""'],
    ['no start', { ...fields, startedAt: undefined }, 'startedAt must be milliseconds since 1970, not undefined'],
    ['a date', { ...fields, updatedAt: new Date(begin) }, 'updatedAt must be milliseconds since 1970, not an instance of Date'],
    ['a time that no date can hold', { ...fields, updatedAt: 9e15 }, 'updatedAt must be milliseconds since 1970, not 9000000000000000'],
    ['negative work', { ...fields, cumulativeExecutionSeconds: -1 }, 'cumulativeExecutionSeconds must be a number of 0 or more, not -1'],
    [
      'a run that started at no time',
      { ...fields, executionStartedAt: NaN },
      'executionStartedAt must be milliseconds since 1970, not NaN',
    ],
  ])('refuses %s', (_name, given, message) => {
    // Holds because this is what a caller without types can give.
    const make = () => new StateInfo(given as unknown as ConstructorParameters<typeof StateInfo>[0]);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });
});

describe('time spent in steps', () => {
  test('adds up to the sum', () => {
    const info = create().addExecutionTime(1.5, begin).addExecutionTime(0, begin).addExecutionTime(0.25, begin);
    expect(info.cumulativeExecutionSeconds).toBe(1.75);
  });

  test('refreshes updatedAt, and neither startedAt nor the id', () => {
    const info = create().addExecutionTime(2, begin + day);
    expect([info.updatedAt, info.startedAt, info.id]).toStrictEqual([begin + day, begin, 'session-1']);
  });

  test('refreshes updatedAt from the machine where no time is given', () => {
    const info = create().addExecutionTime(2);
    expect(Math.abs(info.updatedAt - Date.now())).toBeLessThan(5000);
  });

  test.each([-1, NaN, Infinity])('of %s seconds is refused', (seconds) => {
    expect(() => create().addExecutionTime(seconds, begin)).toThrow(InvalidArgumentError);
  });

  test('leaves the info it was added to as it was', () => {
    const before = create();
    before.addExecutionTime(10, begin + day);
    expect([before.cumulativeExecutionSeconds, before.updatedAt]).toStrictEqual([0, begin]);
  });
});

describe('as JSON', () => {
  test('has readable times and the cumulative field', () => {
    expect(
      create()
        .addExecutionTime(12.5, begin + 1)
        .toJSON(),
    ).toStrictEqual({
      id: 'session-1',
      startedAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.001Z',
      cumulativeExecutionSeconds: 12.5,
    });
  });

  test('is read again as the same info', () => {
    const info = create().addExecutionTime(12.5, begin + day);
    expect(StateInfo.fromJSON(JSON.parse(JSON.stringify(info)))).toStrictEqual(info);
  });

  test('written before time was tracked, has spent none', () => {
    const { cumulativeExecutionSeconds: _, ...old } = create().toJSON();
    expect(StateInfo.fromJSON(old).cumulativeExecutionSeconds).toBe(0);
    expect(StateInfo.fromJSON({ ...old, cumulativeExecutionSeconds: null }).cumulativeExecutionSeconds).toBe(0);
  });

  const whole = create().toJSON();
  const later = begin + 3 * day;
  const sources = () => ({ clock: createFakeClock(later), ids: createCountingIds('new') });
  test.each([
    ['no id', 'id', { id: 'new-1' }],
    ['no start', 'startedAt', { startedAt: later }],
    ['no update', 'updatedAt', { updatedAt: later }],
  ])('with %s gets a new one', (_, field, filled) => {
    const { [field]: __, ...rest } = whole;
    for (const partial of [rest, { ...rest, [field]: null }, { ...rest, [field]: undefined }])
      expect(StateInfo.fromJSON(partial, 'info', sources())).toStrictEqual(
        Object.assign(Object.create(StateInfo.prototype) as StateInfo, create(), filled),
      );
  });

  test('with nothing in it is the info of a new state', () => {
    expect(StateInfo.fromJSON({}, 'info', sources())).toStrictEqual(StateInfo.create(sources()));
    expect(StateInfo.fromJSON({}).id).not.toBe(StateInfo.fromJSON({}).id);
  });

  test.each([
    ['nothing', undefined, 'info'],
    ['a list', [], 'info'],
    ['a number for an id', { ...whole, id: 7 }, 'info.id'],
    ['a start that is no time', { ...whole, startedAt: 'yesterday-ish' }, 'info.startedAt'],
    ['an update that is a number', { ...whole, updatedAt: 1 }, 'info.updatedAt'],
    ['an update that is no time', { ...whole, updatedAt: '' }, 'info.updatedAt'],
    ['an empty id', { ...whole, id: '' }, 'info.id'],
    ['negative time', { ...whole, cumulativeExecutionSeconds: -1 }, 'info.cumulativeExecutionSeconds'],
    ['spent time in words', { ...whole, cumulativeExecutionSeconds: 'long' }, 'info.cumulativeExecutionSeconds'],
  ])('with %s is refused, with the place', (_, damaged, path) => {
    expect(() => StateInfo.fromJSON(damaged)).toThrow(expect.objectContaining({ code: 'damaged-data', path }) as Error);
  });
});
