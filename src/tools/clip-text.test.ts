import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipText, quoteName } from './clip-text.ts';

describe('clipText', () => {
  it('leaves a short text alone and marks a cut', () => {
    expect(clipText('abc', 3)).toBe('abc');
    expect(clipText('abcd', 3)).toBe('abc…');
  });

  it('never splits a character', () => {
    expect(clipText('ab😀cd', 3)).toBe('ab…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 9 }), (text, length) => {
        expect(clipText(text, length)).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});

describe('quoted', () => {
  it('shows a strange name in one line of bearable length', () => {
    expect(quoteName('a\n"b"')).toBe(String.raw`"a\n\"b\""`);
    expect(quoteName('x'.repeat(1_000_000)).length).toBeLessThan(100);
  });
});
