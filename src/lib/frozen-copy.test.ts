import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mostCanonicalBytes, toCanonical, toFrozenCanonical } from './canonical.ts';
import { copyPlain } from './frozen-copy.ts';

const isFrozenThrough = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));

const copy = (value: unknown): unknown => copyPlain(value, 64, mostCanonicalBytes);

describe('frozen copies', () => {
  test('are the canonical form of any value, frozen all the way down', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
      stringUnit: 'binary',
      key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON', 'a\0', 'a\uFFFD')),
    });
    fc.assert(
      fc.property(anything, (value) => {
        const frozen = toFrozenCanonical(value);
        expect(frozen).toStrictEqual(toCanonical(value));
        expect(frozen.ok && !isFrozenThrough(frozen.value)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('plain data is copied at once, and stays as it was if the original changes', () => {
    const original = { rows: [{ id: 1, tags: ['a', null] }], total: -0, ratio: Number.NaN, text: 'a\0' };
    const copied = copy(original);
    original.rows[0]?.tags.push('b');
    expect(copied).toStrictEqual({ rows: [{ id: 1, tags: ['a', null] }], total: 0, ratio: null, text: 'a\uFFFD' });
  });

  test('a getter is read once and becomes data', () => {
    let reads = 0;
    const source = Object.defineProperty({ id: 1 }, 'count', { enumerable: true, get: () => (reads += 1) });
    expect(copy(source)).toStrictEqual({ id: 1, count: 1 });
    expect(reads).toBe(1);
  });

  test.each<[string, unknown]>([
    ['a field without a value', { a: undefined }],
    ['a symbol as a name', { [Symbol('s')]: 1 }],
    ['an instance of a class', new Date(0)],
    ['toJSON', { toJSON: () => 1 }],
    ['bytes', new Uint8Array(2)],
    ['a name that cannot be stored', { 'a\0': 1 }],
    ['a getter that throws', Object.defineProperty({}, 'a', { enumerable: true, get: () => expect.unreachable() })],
    ['a hole', [, 1]], // eslint-disable-line no-sparse-arrays -- the hole is the point
    ['a list of 4 billion holes', Object.assign([], { length: 2 ** 32 - 1 })],
  ])('%s is left to be looked at more closely', (_, value) => {
    expect(copy(value)).toBeUndefined();
  });

  test('the limits of depth and size hold', () => {
    expect([copyPlain([[1]], 2, 1000), copyPlain([[1]], 1, 1000)]).toStrictEqual([[[1]], undefined]);
    expect([copyPlain(['x'.repeat(10)], 2, 100), copyPlain(['x'.repeat(10)], 2, 50)]).toStrictEqual([['x'.repeat(10)], undefined]);
    // Its text is 42 bytes long, although escaped it might not be.
    expect(toFrozenCanonical(['x'.repeat(38)], { maxBytes: 42 })).toMatchObject({ ok: true });
    expect(toFrozenCanonical(['x'.repeat(38)], { maxBytes: 41 })).toMatchObject({ ok: false, isTooLarge: true });
  });
});
