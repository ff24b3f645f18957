import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Json } from '../lib/index.ts';
import { isLeakedArguments, TextHold } from './leak-guard.ts';

const calls = (...args: readonly Json[]): readonly { readonly args: Json }[] => args.map((each) => ({ args: each }));

describe('leaked arguments (C45, C46)', () => {
  test.each([
    ['{"q":1}', [{ q: 1 }], true],
    ['\n  { "q" : 1 }\n', [{ q: 1 }], true],
    ['{"b":2,"a":{"d":4,"c":3}}', [{ a: { c: 3, d: 4 }, b: 2 }], true],
    ['{"q":2}', [{ q: 1 }, { q: 2 }], true],
    ['[1,2]', [[1, 2]], true],
    ['{}', [{}], true],
    ['{"q":1}', [], false],
    ['{"q":1}', [{ q: 2 }], false],
    ['{"q":1}', [{ q: '1' }], false],
    ['{"q":1}', [{ q: 1, r: 2 }], false],
    ['[2,1]', [[1, 2]], false],
    ['I call it with {"q":1}', [{ q: 1 }], false],
    ['{"q":1} and now?', [{ q: 1 }], false],
    ['{"q":1}{"q":1}', [{ q: 1 }], false],
    ['{"q":', [{ q: 1 }], false],
    ['', [{}], false],
    ['null', [null], false],
    ['{"__proto__":1}', [{}], false],
  ] as const)('%j beside calls with %j: %s', (text, args, expected) => {
    expect(isLeakedArguments(text, calls(...args))).toBe(expected);
  });

  test('a call whose arguments could not be read is equal to nothing', () => {
    expect(isLeakedArguments('{}', [{ args: {}, rawArgs: '{' }])).toBe(false);
  });

  test('text that is nested without end is text', () => {
    expect(isLeakedArguments('['.repeat(100_000) + ']'.repeat(100_000), calls([]))).toBe(false);
  });
});

describe('the text hold (C48)', () => {
  test('lets prose through at once', () => {
    const hold = new TextHold();
    expect(hold.take('Let me see. ')).toBe('Let me see. ');
    expect(hold.take('{"q":1}')).toBe('{"q":1}');
    expect(hold.isHolding).toBe(false);
  });

  test('holds JSON until it stops being JSON, then gives all of it', () => {
    const hold = new TextHold();
    expect(['\n ', '{"q"', ':1}', ' '].map((piece) => hold.take(piece))).toStrictEqual(['', '', '', '']);
    expect(hold.isHolding).toBe(true);
    expect(hold.take('is what I ask.')).toBe('\n {"q":1} is what I ask.');
    expect(hold.take(' More.')).toBe(' More.');
  });

  test('gives what it holds when told to, once', () => {
    const hold = new TextHold();
    hold.take('[1,');
    expect([hold.release(), hold.release(), hold.isHolding]).toStrictEqual(['[1,', '', false]);
  });

  test('whatever comes, nothing is lost, doubled or reordered', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json(), fc.constantFrom('{', '[', ' ', '"', '}'))), (pieces) => {
        const hold = new TextHold();
        const shown = pieces.map((piece) => hold.take(piece)).join('');
        expect(shown + hold.release()).toBe(pieces.join(''));
      }),
    );
  });

  test('reads a hundred thousand small pieces in linear time', () => {
    const hold = new TextHold();
    hold.take('["');
    for (let index = 0; index < 100_000; index += 1) hold.take('word ');
    expect(hold.take('"]x')).toHaveLength(500_005);
  });
});

describe('an answer without text', () => {
  test('is not parsed as JSON', () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      expect(isLeakedArguments(' ', [{ args: {} }])).toBe(false);
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });
});
