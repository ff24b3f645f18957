import { describe, expect, it } from 'vitest';
import { cut, getWidth, pad, toJsonText, toLine, toLines, wrap } from './text.ts';

describe('foreign text on a terminal (X1)', () => {
  it.each([
    ['a line break', 'one\ntwo', String.raw`one\ntwo`],
    ['a carriage return', 'one\rtwo', String.raw`one\rtwo`],
    ['a colour', '\u001b[31mred', String.raw`\u001b[31mred`],
    ['the one-character form of an escape', '\u009b31m', String.raw`\u009b31m`],
    ['a bell', '\u0007', String.raw`\u0007`],
    ['a turned direction', 'abc\u202ecod.exe', String.raw`abc\u202ecod.exe`],
    ['an isolate', '\u2066x\u2069', String.raw`\u2066x\u2069`],
    ['an invisible tag', '\u{e0041}', String.raw`\udb40\udc41`],
    ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
    ['half of a pair', '\ud800', String.raw`\ud800`],
  ])('shows %s as an escape', (_, text, shown) => {
    expect(toLine(text)).toBe(shown);
  });

  it('leaves words, accents, emoji and joiners as they are', () => {
    const text = 'Grüße, 日本 👨‍👩‍👧 می‌خواهم';
    expect(toLine(text)).toBe(text);
  });

  it('keeps the lines of text that has several', () => {
    expect(toLines('one\r\ntwo\n\u001bthree')).toStrictEqual(['one', 'two', String.raw`\u001bthree`]);
  });

  it('writes JSON that parses to the same value and holds no control character', () => {
    const value = { text: '\u001b[2J\u009b\u202e\n', '\u0085': 1 };
    const text = toJsonText(value);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(text)).toStrictEqual(value);
    expect(JSON.parse(toJsonText(value, 2))).toStrictEqual(value);
  });
});

describe('the width of text', () => {
  it.each([
    ['plain', 5],
    ['日本', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
  ])('%s takes %d columns', (text, width) => {
    expect(getWidth(text)).toBe(width);
  });

  it('never exceeds the room when text is cut', () => {
    for (const text of ['a long sentence', '日本語の文章です', '👍👍👍👍👍'])
      for (let width = 1; width < 20; width += 1) expect(getWidth(cut(text, width))).toBeLessThanOrEqual(width);
  });

  it('pads by columns, not by characters', () => {
    expect(pad('日本', 6)).toBe('日本  ');
    expect(pad('7', 3, 'right')).toBe('  7');
  });

  it('breaks between words, and inside a word only if it does not fit alone', () => {
    expect(wrap('one two three', 8)).toStrictEqual(['one two', 'three']);
    expect(wrap('abcdefghij kl', 4)).toStrictEqual(['abcd', 'efgh', 'ij', 'kl']);
  });
});
