import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SplitText } from './think-splitter.ts';
import { createThinkSplitter } from './think-splitter.ts';

function split(pieces: readonly string[]): SplitText {
  const splitter = createThinkSplitter();
  const all = [...pieces.map((piece) => splitter.take(piece)), splitter.end()];
  return { reasoning: all.map(({ reasoning }) => reasoning).join(''), text: all.map(({ text }) => text).join('') };
}

describe('the think splitter', () => {
  test.each([
    ['<think>Hm.</think>Hello.', 'Hm.', 'Hello.'],
    ['\n <think>\nHm.\n</think>\n\nHello. ', '\nHm.\n', 'Hello. '],
    ['<think></think>Hello.', '', 'Hello.'],
    ['<think>Hm.</think>', 'Hm.', ''],
    ['<think>Hm, and no end', 'Hm, and no end', ''],
    ['<think>Hm.</thi', 'Hm.</thi', ''],
    ['<think>a</think>b<think>c</think>d', 'a', 'b<think>c</think>d'],
    ['<think>a < b </ c</think>d', 'a < b </ c', 'd'],
    ['Hello <think>Hm.</think>', '', 'Hello <think>Hm.</think>'],
    ['<thinking>Hm.</thinking>', '', '<thinking>Hm.</thinking>'],
    ['  <thi', '', '  <thi'],
    [' \n ', '', ' \n '],
    ['', '', ''],
  ])('%j, however it is cut', (whole, reasoning, text) => {
    expect(split([whole])).toStrictEqual({ reasoning, text });
    expect(split([...whole])).toStrictEqual({ reasoning, text });
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(whole.length), (one, two) => {
        const [from, to] = [Math.min(one, two), Math.max(one, two)];
        expect(split([whole.slice(0, from), whole.slice(from, to), whole.slice(to)])).toStrictEqual({ reasoning, text });
      }),
    );
  });

  test('tells thinking as it comes, but for what may be the tag', () => {
    const splitter = createThinkSplitter();
    expect(splitter.take('<think>Hm')).toStrictEqual({ reasoning: 'Hm', text: '' });
    expect(splitter.take(', so</th')).toStrictEqual({ reasoning: ', so', text: '' });
    expect(splitter.take('ere')).toStrictEqual({ reasoning: '</there', text: '' });
  });

  test('is done with the first words, and lets the rest through', () => {
    const splitter = createThinkSplitter();
    expect(splitter.isDone()).toBe(false);
    splitter.take('Hi');
    expect(splitter.isDone()).toBe(true);
    expect(splitter.take('<think>')).toStrictEqual({ reasoning: '', text: '<think>' });
  });

  test('waits through a hundred thousand spaces in linear time', () => {
    const splitter = createThinkSplitter();
    for (let index = 0; index < 100_000; index += 1) splitter.take('\n');
    expect(splitter.take('<think>a').reasoning).toBe('a');
    for (let index = 0; index < 100_000; index += 1) splitter.take('<');
    expect(splitter.take('</think>b').text).toBe('b');
  });
});
