import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../lib/index.ts';
import type { ContentPart } from '../messages/index.ts';
import { toolResultText } from '../messages/index.ts';
import { truncateOutput } from './truncate-output.ts';

const toNote = (shown: number, total: number): string =>
  `[This result was cut: these are the first ${shown} of ${total} characters. Call the tool for a smaller part to read the rest.]`;

describe('an output for the model', () => {
  it.each<Parameters<typeof truncateOutput>>([
    [{ type: 'text', value: 'abcde' }, 5],
    [{ type: 'json', value: [1, 2] }, 5],
    [{ type: 'text', value: 'x'.repeat(100) }, Infinity],
    [{ type: 'error', value: 'a long error' }, 5],
    [{ type: 'rejected', reason: 'a long reason' }, 5],
    [{ type: 'content', parts: [{ type: 'image', data: 'AAAAAAAAAA' }] }, 5],
  ])('that is short enough, or not a result, stays the same: %j', (output, maxChars) => {
    expect(truncateOutput(output, maxChars)).toBe(output);
  });

  it('of text is cut, with a note that says how much is shown', () => {
    expect(truncateOutput({ type: 'text', value: 'abcdef' }, 5)).toStrictEqual({ type: 'text', value: `abcde\n\n${toNote(5, 6)}` });
  });

  it('of data is cut as the text of its JSON', () => {
    expect(truncateOutput({ type: 'json', value: { a: 'bcdef' } }, 5)).toStrictEqual({ type: 'text', value: `{"a":\n\n${toNote(5, 13)}` });
  });

  it('of data is cut only if its JSON is too long, whatever the data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 200 }), (given, maxChars) => {
        const output = { type: 'json' as const, value: given as Json };
        expect(truncateOutput(output, maxChars) === output).toBe(JSON.stringify(given).length <= maxChars);
      }),
    );
  });

  it('is cut at a whole character', () => {
    expect(truncateOutput({ type: 'text', value: 'abc😀def' }, 4)).toStrictEqual({ type: 'text', value: `abc\n\n${toNote(3, 8)}` });
  });

  it('of parts is cut by its text; pictures and files stay, and do not count', () => {
    const image: ContentPart = { type: 'image', data: 'A'.repeat(1000), mediaType: 'image/png' };
    const file: ContentPart = { type: 'file', id: 'f1', mediaType: 'text/plain' };
    const parts: readonly ContentPart[] = [
      { type: 'text', text: 'abc' },
      image,
      { type: 'text', text: 'defg' },
      { type: 'text', text: 'h' },
      file,
    ];
    expect(truncateOutput({ type: 'content', parts }, 8)).toMatchObject({ type: 'content', parts });
    expect(truncateOutput({ type: 'content', parts }, 5)).toStrictEqual({
      type: 'content',
      parts: [{ type: 'text', text: 'abc' }, image, { type: 'text', text: 'de' }, file, { type: 'text', text: toNote(5, 8) }],
    });
  });

  it('is well-formed, a prefix, and the same every time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (value, maxChars) => {
        const cut = toolResultText(truncateOutput({ type: 'text', value }, maxChars));
        expect(cut.isWellFormed()).toBe(true);
        expect(truncateOutput({ type: 'text', value }, maxChars)).toStrictEqual(truncateOutput({ type: 'text', value }, maxChars));
        const shown = value.length <= maxChars ? cut : cut.slice(0, cut.indexOf('\n\n[This result was cut'));
        expect(value.startsWith(shown)).toBe(true);
        expect(shown.length).toBeGreaterThanOrEqual(Math.min(value.length, maxChars) - 1);
      }),
    );
  });
});
