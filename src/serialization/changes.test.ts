import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../lib/index.ts';
import { DamagedDataError } from '../lib/index.ts';
import { diffFields, withChanges } from './index.ts';

const key = fc.constantFrom('a', 'b', 'c', '0', '12', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '--', '');
const value = fc.oneof(
  fc.constantFrom(null, true, 0, 1, 'x', [], {}),
  fc.jsonValue({ maxDepth: 2 }).map((given) => JSON.parse(JSON.stringify(given)) as Json),
) as fc.Arbitrary<Json>;
const object: fc.Arbitrary<JsonObject> = fc
  .uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 6 })
  .map((pairs) => Object.fromEntries(pairs));
/** By hand: toStrictEqual looks through `__proto__`. */
const toEntriesText = (given: JsonObject): string =>
  JSON.stringify(Object.entries(given).toSorted(([left], [right]) => (left < right ? -1 : 1)));

test('G1: what has changed makes the later object of the earlier one, through JSON too', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const changes = diffFields(before, after);
      expect(toEntriesText(withChanges(before, changes, 'x'))).toBe(toEntriesText(after));
      expect(toEntriesText(withChanges(before, JSON.parse(JSON.stringify(changes)), 'x'))).toBe(toEntriesText(after));
      expect(diffFields(after, withChanges(before, changes, 'x'))).toStrictEqual({});
    }),
    { numRuns: 2000 },
  );
});

test('neither object is changed', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const texts = [toEntriesText(before), toEntriesText(after)];
      withChanges(before, diffFields(before, after), 'x');
      expect([toEntriesText(before), toEntriesText(after)]).toStrictEqual(texts);
    }),
  );
});

describe('G2: what did not change is not written, what is gone is named', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['the same', { a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, {}],
    ['nothing of nothing', {}, {}, {}],
    ['a new field', { a: 1 }, { a: 1, b: null }, { b: null }],
    ['another value', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
    ['a list with another item', { a: [1, 2] }, { a: [1, 3] }, { a: [1, 3] }],
    ['null for a value', { a: 1 }, { a: null }, { a: null }],
    ['fields that are gone', { a: 1, b: 2, c: 3 }, { b: 2 }, { '-': ['a', 'c'] }],
    ['one gone and one new', { a: 1 }, { b: 1 }, { b: 1, '-': ['a'] }],
    ['text that looks like a number', { a: 1 }, { a: '1' }, { a: '1' }],
  ])('%s', (_, before, after, changes) => {
    expect(diffFields(before, after)).toStrictEqual(changes);
    expect(withChanges(before, changes, 'x')).toStrictEqual(after);
  });
});

describe('names that objects know already are names like others', () => {
  test.each(['__proto__', 'constructor', 'toString'])('%s', (name) => {
    const own = (given: Json): JsonObject => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(given)}}`) as JsonObject;
    const added = diffFields({}, own({ polluted: true }));
    expect(Object.keys(added)).toStrictEqual([name]);
    const after = withChanges({}, added, 'x');
    expect([Object.keys(after), JSON.stringify(after)]).toStrictEqual([[name], JSON.stringify(own({ polluted: true }))]);
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
    expect(diffFields(own(1), {})).toStrictEqual({ '-': [name] });
    expect(Object.keys(withChanges(own(1), { '-': [name] }, 'x'))).toStrictEqual([]);
    expect(diffFields(own(1), own(1))).toStrictEqual({});
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('inside a value, the name that those that are gone stand under is a name like others', () => {
  expect(diffFields({}, { a: { '-': 1 } })).toStrictEqual({ a: { '-': 1 } });
  expect(withChanges({}, { a: { '-': 1 } }, 'x')).toStrictEqual({ a: { '-': 1 } });
});

describe('damage is refused, with its place', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'x'],
    ['null', null, 'x'],
    ['a list', [], 'x'],
    ['text', 'a', 'x'],
    ['one name instead of a list', { '-': 'a' }, 'x.-'],
    ['null instead of names', { '-': null }, 'x.-'],
    ['a name that is none', { '-': ['a', 5] }, 'x.-[1]'],
  ])('%s', (_, changes, path) => {
    expect(() => withChanges({ a: 1 }, changes, 'x')).toThrow(DamagedDataError);
    expect(() => withChanges({ a: 1 }, changes, 'x')).toThrow(expect.objectContaining({ path }) as Error);
  });

  test('a name that is not there is as good as gone', () => {
    expect(withChanges({ a: 1 }, { '-': ['b'] }, 'x')).toStrictEqual({ a: 1 });
  });
});
