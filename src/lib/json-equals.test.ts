import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { jsonEquals } from './json.ts';
import { stableStringify } from './json.ts';

const own = JSON.parse('{"__proto__":1}') as Json;

test.each<[Json | undefined, Json | undefined, boolean]>([
  [1, 1, true],
  [1, 2, false],
  [1, '1', false],
  [0, false, false],
  [0, null, false],
  ['', null, false],
  [null, null, true],
  [undefined, undefined, true],
  [undefined, null, false],
  [null, {}, false],
  [null, [], false],
  [[], {}, false],
  [{}, [], false],
  [[], [], true],
  [{}, {}, true],
  [[1, 2], [1, 2], true],
  [[1, 2], [2, 1], false],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[null], [], false],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: 1 }, { b: 1 }, false],
  [{ a: null }, { b: null }, false],
  [{ a: [{ b: 1 }] }, { a: [{ b: 1 }] }, true],
  [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
  [{ 0: 'x' }, ['x'], false],
  [{ toString: 1 }, { valueOf: 1 }, false],
  [JSON.parse('{"__proto__":{}}') as Json, { a: 1 }, false],
  [own, { a: 1 }, false],
  [{ a: 1 }, own, false],
  [own, JSON.parse('{"__proto__":1}') as Json, true],
])('%j and %j: %s', (left, right, equal) => {
  expect(jsonEquals(left, right)).toBe(equal);
  expect(jsonEquals(right, left)).toBe(equal);
});

test('both are equal where both are written the same in a stable order', () => {
  const value = fc.oneof(fc.constantFrom(0, 1, 'a', null, [], {}, [1], { a: 1 }, { a: 1, b: [1] }), fc.jsonValue({ maxDepth: 2 }));
  const json = value.map((given) => JSON.parse(JSON.stringify(given)) as Json);
  fc.assert(
    fc.property(json, json, (left, right) => {
      expect(jsonEquals(left, right)).toBe(stableStringify(left) === stableStringify(right));
      expect(jsonEquals(left, JSON.parse(JSON.stringify(left)) as Json)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
