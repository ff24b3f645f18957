import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutBySize, measureEntries } from './change-size.ts';

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);

test('a list is cut into parts that fit, in its order; only what is too large by itself is a part that does not', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.integer({ min: 1, max: 30 }), (sizes, max) => {
      const parts = cutBySize(sizes, max, (size) => size);
      expect(parts.flat()).toStrictEqual(sizes);
      expect(parts.filter((part) => part.length === 0 || (sum(part) > max && part.length > 1))).toStrictEqual([]);
    }),
  );
});

test('texts are measured in bytes, short or long', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom(1, 1000), (text, times) => {
      const body = text.repeat(times);
      expect(measureEntries([{ body, events: text }])).toBe(Buffer.byteLength(body) + Buffer.byteLength(text));
    }),
  );
});
