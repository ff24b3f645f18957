import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { stableStringify } from './json.ts';

// Holds: fast-check's jsonValue makes JSON values only.
const json = (): fc.Arbitrary<Json> => fc.jsonValue() as fc.Arbitrary<Json>;

test('keys are sorted at every depth, items keep their order', () => {
  expect(stableStringify({ b: [{ d: 1, c: null }, 2], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"d":1},2]}');
});

test('a __proto__ key is written as any other', () => {
  expect(stableStringify(JSON.parse('{"z":1,"__proto__":{"a":2}}') as Json)).toBe('{"__proto__":{"a":2},"z":1}');
});

test('the text reads back as the value', () => {
  fc.assert(
    fc.property(json(), (value) => {
      expect(JSON.parse(stableStringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('the order in which keys were set does not matter', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), json()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse());
      expect(stableStringify(turned)).toBe(stableStringify(value));
    }),
  );
});
