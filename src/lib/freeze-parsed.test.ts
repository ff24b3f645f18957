import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCanonical } from './canonical.ts';
import { freezeParsed } from './freeze-parsed.ts';
import { getKnownForm } from './known-canonical.ts';

const isFrozenThrough = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));

const freeze = (value: unknown, isSmall = true): boolean => freezeParsed(value, { maxDepth: 3, isSmall });

describe('freezing what JSON.parse made', () => {
  test('freezes canonical values all the way down and marks them; leaves others to be converted', () => {
    const json = fc.json({ stringUnit: 'binary', maxDepth: 4 });
    fc.assert(
      fc.property(json, fc.boolean(), (text, isSmall) => {
        const value: unknown = JSON.parse(text);
        const given: unknown = JSON.parse(text);
        const canonical = toCanonical(given, { maxDepth: 3 });
        const isKept = freeze(value, isSmall);
        expect(isKept).toBe(canonical.ok && canonical.value === given);
        if (!isKept) return;
        expect(value).toStrictEqual(given);
        expect(isFrozenThrough(value)).toBe(true);
        expect(getKnownForm(value)).toBe(isSmall && typeof value === 'object' && value !== null ? 'json' : undefined);
      }),
    );
  });

  test.each(['-0', '1e999', '"\\ud800"', '{"a\\u0000":1}', '[[[[]]]]', '{"a":[-0]}'])('does not take %s', (text) => {
    expect(freeze(JSON.parse(text))).toBe(false);
  });

  test('freezes what is inside first, so that a value that is not taken is never frozen around open data', () => {
    const value = JSON.parse('{"first":{"inner":[1]},"second":{"open":{"at":-0}}}') as Record<string, unknown>;
    expect(freeze(value)).toBe(false);
    expect([Object.isFrozen(value), Object.isFrozen(value['second']), isFrozenThrough(value['first'])]).toStrictEqual([false, false, true]);
  });

  test('takes a field named __proto__ like any other', () => {
    const value = JSON.parse('{"__proto__":{"a":[1]}}') as object;
    expect(freeze(value)).toBe(true);
    expect(isFrozenThrough(value)).toBe(true);
  });
});
