import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonProblem } from './json-problem.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('findJsonProblem', () => {
  it.each([
    ['', 'at line 1, column 1: expected a value, but the text ends'],
    ['{"city": Paris}', 'at line 1, column 10: expected a value, found "Paris}"'],
    ['{"city": "Paris",}', 'at line 1, column 18: expected a name in double quotes, found "}"'],
    ['{\n  "a": 1\n  "b": 2\n}', 'at line 3, column 3: expected "," or "}", found "\\"b\\": 2\\n}"'],
    ["{'a': 1}", 'at line 1, column 2: expected a name in double quotes or "}", found "\'a\': 1}"'],
    ['[1, 2', 'at line 1, column 6: expected "," or "]", but the text ends'],
    ['[,', 'at line 1, column 2: expected a value or "]", found ","'],
    ['{"a" 1}', 'at line 1, column 6: expected ":", found "1}"'],
    ['"abc', 'at line 1, column 5: expected a closing double quote, but the text ends'],
    ['"a\\x"', 'at line 1, column 3: expected a valid escape, found "\\\\x\\""'],
    ['"a\nb"', 'at line 1, column 3: expected control characters to be escaped, found "\\nb\\""'],
    ['{} {}', 'at line 1, column 4: expected nothing more, found "{}"'],
    ['[01]', 'at line 1, column 3: expected "," or "]", found "1]"'],
  ])('says where %j stops being JSON', (text, problem) => {
    expect(findJsonProblem(text)).toBe(problem);
  });

  it('agrees with JSON.parse on what is JSON', () => {
    const tokens = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"',
        '\\',
        'a',
        '1',
        '-',
        '.',
        'e',
        '0',
        'true',
        'null',
        ' ',
        '\n',
        '\\u12',
        '\t',
        '\u0000',
        '\uD800',
      ),
      { maxLength: 12 },
    );
    const damaged = fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, piece]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + piece + text.slice(place + 1);
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          tokens.map((list) => list.join('')),
          damaged,
          fc.string(),
        ),
        (text) => {
          expect(findJsonProblem(text) === undefined).toBe(isJson(text));
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('is not undone by long or deep texts', () => {
    expect(findJsonProblem(`["${'x'.repeat(2_000_000)}`)).toMatch(/closing double quote/);
    expect(findJsonProblem('['.repeat(200_000))).toMatch(/a value or "]"/);
  });
});
