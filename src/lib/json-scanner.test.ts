import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { JsonScanner } from './json-scanner.ts';

const takes = (text: string): boolean => new JsonScanner('container').take(text);
const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()));
const jsonText = fc.tuple(container, fc.constantFrom('', 1, 2, '\t')).map(([value, indent]) => JSON.stringify(value, null, indent));

function isWhole(text: string): boolean {
  const scanner = new JsonScanner('container');
  return scanner.take(text) && scanner.end() === undefined;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

describe('the JSON scanner', () => {
  test('takes every beginning of every JSON object and array', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const ends = Array.from({ length: text.length + 1 }, (_, end) => end);
        expect(ends.filter((end) => !takes(text.slice(0, end)))).toStrictEqual([]);
        expect(isWhole(text)).toBe(true);
      }),
    );
  });

  test('finds no problem exactly if JSON.parse accepts the text (P2)', () => {
    const noise = fc.constantFrom(...'{}[]",:0123456789.eE+-\\utrufalsn \n\t\u0001a');
    const edited = fc.tuple(jsonText, fc.nat(), noise, fc.boolean()).map(([text, at, symbol, replaces]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + symbol + text.slice(index + (replaces ? 1 : 0));
    });
    const soup = fc.array(noise, { maxLength: 12 }).map((symbols) => `[${symbols.join('')}]`);
    fc.assert(
      fc.property(fc.oneof(edited, soup), (text) => {
        expect([text, isWhole(text)]).toStrictEqual([text, isJson(text) && JSON.parse(text) !== null]);
      }),
      { numRuns: pickRuns({ quick: 1000, slow: 10_000 }) },
    );
  });

  test.each([
    '{"a":01}',
    '[1.]',
    '[.5]',
    '[-]',
    '[+1]',
    '[1e]',
    '[1,]',
    '[,1]',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '[tru]',
    '[True]',
    '[nul]',
    '["\\x"]',
    '["\\u12g4"]',
    '["\n"]',
    '[}',
    '{]',
    '{}{}',
    '[] x',
    '"text"',
    '1',
    'null',
    'x',
  ])('%j is refused', (text) => {
    expect(isWhole(text)).toBe(false);
    expect(isJson(text) && typeof JSON.parse(text) === 'object' && JSON.parse(text) !== null).toBe(false);
  });

  test('gives the same answer however the text is cut', () => {
    fc.assert(
      fc.property(jsonText, fc.array(fc.nat(40)), fc.constantFrom('', ' ', 'x', '}'), (text, cuts, tail) => {
        const whole = text + tail;
        const scanner = new JsonScanner('container');
        let rest = whole;
        for (const cut of cuts) {
          scanner.take(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        expect(scanner.take(rest)).toBe(takes(whole));
      }),
    );
  });

  test('stays broken once it is', () => {
    const scanner = new JsonScanner('container');
    expect(scanner.take('{]')).toBe(false);
    expect(scanner.take('{}')).toBe(false);
  });

  test('reads half a million nested arrays in linear time', () => {
    const scanner = new JsonScanner('container');
    for (let index = 0; index < 500_000; index += 1) scanner.take('[');
    for (let index = 0; index < 500_000; index += 1) scanner.take(']');
    expect(scanner.end()).toBe(undefined);
  });
});

test.each([
  ['{"a":[1]}', true],
  ['[] ', true],
  ['{} and words', true],
  ['{"a":', false],
  ['[1', false],
  ['[1,]', false],
  ['words', false],
  ['', false],
])('%j holds a whole object or array at its start: %s', (text, expected) => {
  const scanner = new JsonScanner('container');
  scanner.take(text);
  expect(scanner.isComplete).toBe(expected);
});
