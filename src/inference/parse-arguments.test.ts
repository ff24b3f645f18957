import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCanonical } from '../lib/index.ts';
import { parseArguments, parseJson } from './parse-arguments.ts';

const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('the arguments of a call (M5)', () => {
  test.each([undefined, '', '  \n'])('no text (%j) means no arguments', (input) => {
    expect(parseArguments(input)).toStrictEqual({ args: {} });
  });

  test.each([
    ['{"q":"a"}', { q: 'a' }],
    [' [1, 2] ', [1, 2]],
    ['"text"', 'text'],
    ['null', null],
    ['{"q":1,"q":2}', { q: 2 }],
    ['{"q":"\\ud800\\u0000"}', { q: '\uFFFD\uFFFD' }],
  ])('%j is parsed', (input, args) => {
    expect(parseArguments(input)).toStrictEqual({ args });
  });

  test.each(['{"q":', "{'q':1}", '{"q":1,}', '{"q":NaN}', '{}{}', '```json\n{}\n```', '{"q":undefined}', nest(49), '\ud800'])(
    '%j is handed on as text',
    (input) => {
      expect(parseArguments(input)).toStrictEqual({ args: null, rawArgs: input.replace('\ud800', '\uFFFD') });
    },
  );

  test('48 levels are kept', () => {
    expect(parseArguments(nest(48))).not.toHaveProperty('rawArgs');
  });

  test('__proto__ is a key like any other', () => {
    const { args } = parseArguments('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(Object.keys(args as object)).toStrictEqual(['__proto__']);
    expect((args as { readonly admin?: unknown }).admin).toBeUndefined();
  });

  test('a value is taken as it is', () => {
    expect(parseArguments({ q: 1 })).toStrictEqual({ args: { q: 1 } });
    expect(parseArguments(null)).toStrictEqual({ args: null });
    expect(parseArguments({ at: Number.NaN })).toStrictEqual({ args: { at: null } });
  });

  test('a value that cannot be kept is shown', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(parseArguments(circular)).toStrictEqual({ args: null, rawArgs: 'arguments of type object that cannot be shown' });
    expect(parseArguments({ deep: JSON.parse(nest(60)) as unknown })).toStrictEqual({ args: null, rawArgs: `{"deep":${nest(60)}}` });
  });

  test('whatever it is, what is kept is canonical', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
          fc.json(),
          fc.string({ unit: 'binary' }),
        ),
        (input) => {
          const parsed = parseArguments(input);
          const canonical = toCanonical(parsed);
          expect(canonical.ok && canonical.value).toBe(parsed);
        },
      ),
    );
  });
});

test('what is no JSON is undefined, and null is JSON', () => {
  expect([parseJson('x'), parseJson(''), parseJson('null'), parseJson(nest(49))]).toStrictEqual([undefined, undefined, null, undefined]);
});

test('parsed arguments cannot be changed by whoever reads the call: messages and executions share them', () => {
  const { args } = parseArguments('{"a":[{"b":1}]}');
  expect(() => Object.assign(args as object, { a: 2 })).toThrow(TypeError);
  expect(() => (args as { a: { b: number }[] }).a.push({ b: 2 })).toThrow(TypeError);
  expect(Object.isFrozen((args as { a: object[] }).a[0])).toBe(true);
});
