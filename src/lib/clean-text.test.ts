import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleanText, isCleanText } from './clean-text.ts';
import { toFrozen } from './copy-frozen.ts';

test.each([
  ['a title that was cut through an emoji', 'Best 😀'.slice(0, 6), 'Best \uFFFD'],
  ['the second half alone', '\uDE00x', '\uFFFDx'],
  ['halves in the wrong order', '\uDE00\uD83D', '\uFFFD\uFFFD'],
  ['NUL', 'a\0b', 'a\uFFFDb'],
  ['a whole emoji', '😀', '😀'],
  ['empty text', '', ''],
])('cleans %s', (_, text, cleaned) => {
  expect(cleanText(text)).toBe(cleaned);
});

test.each([1, 39, 40, 41, 200])('finds a broken character anywhere in a text of %i characters', (length) => {
  for (let place = 0; place < length; place += 1) {
    const [before, after] = ['a'.repeat(place), 'a'.repeat(length - place - 1)];
    for (const broken of ['\0', '\uD800', '\uDFFF']) expect(cleanText(before + broken + after)).toBe(`${before}\uFFFD${after}`);
  }
});

test('cleaned text survives UTF-8 and stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }), (text) => {
      const cleaned = cleanText(text);
      expect(new TextDecoder().decode(new TextEncoder().encode(`x${cleaned}`))).toBe(`x${cleaned}`);
      expect(cleaned).not.toContain('\0');
      expect(cleanText(cleaned)).toBe(cleaned);
      expect(cleaned).toHaveLength(text.length);
    }),
  );
});

test.each([
  ['text', true],
  ['', false],
  ['a\0', false],
  ['\uD83D', false],
  [5, false],
])('says if %j can be stored as a name: %s', (value, expected) => {
  expect(isCleanText(value)).toBe(expected);
});

test('data that is taken over is cleaned, frozen or not, and stays the same object if there is nothing to do', () => {
  const broken = { 'k\0': ['\uD83D', { deep: 'a\0' }] };
  expect(toFrozen(broken)).toStrictEqual({ 'k\uFFFD': ['\uFFFD', { deep: 'a\uFFFD' }] });
  expect(toFrozen(Object.freeze({ text: '\uD83D' }))).toStrictEqual({ text: '\uFFFD' });
  const clean = Object.freeze({ list: Object.freeze(['a']) });
  expect(toFrozen(clean)).toBe(clean);
});

test('fields that would get the same name are all kept', () => {
  expect(toFrozen({ 'a\uD83D': 1, 'a\uFFFD': 2, 'a\uD800': 3 })).toStrictEqual({
    'a\uFFFD\uFFFD': 1,
    'a\uFFFD': 2,
    'a\uFFFD\uFFFD\uFFFD': 3,
  });
});
