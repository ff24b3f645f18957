import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutMark, truncateText } from './truncate-text.ts';

test.each([
  ['', 1, ''],
  ['a', 1, 'a'],
  ['ab', 1, '…'],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['😀😀😀', 3, '😀😀😀'],
  ['😀😀😀😀', 3, '😀😀…'],
  ['a😀b', 2, 'a…'],
  ['a😀bc', 3, 'a😀…'],
  ['abcd', Infinity, 'abcd'],
])('%j in at most %d code points is %j', (text, max, expected) => {
  expect(truncateText(text, max)).toBe(expected);
});

test('a cut text has exactly the most code points, begins as the whole one did, and ends in the mark', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 12 }), (text, max) => {
      const [points, cut] = [[...text], truncateText(text, max)];
      if (points.length <= max) expect(cut).toBe(text);
      else expect([...cut]).toEqual([...points.slice(0, max - 1), cutMark]);
    }),
  );
});
