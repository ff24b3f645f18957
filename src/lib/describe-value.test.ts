import { expect, test } from 'vitest';
import { describeValue } from './describe-value.ts';

test.each<readonly [unknown, string]>([
  ['gpt-5', '"gpt-5"'],
  ['', '""'],
  ['x'.repeat(80), `"${'x'.repeat(60)}…"`],
  [Number.NaN, 'NaN'],
  [-1, '-1'],
  [true, 'true'],
  [null, 'null'],
  [undefined, 'undefined'],
  [[], 'an empty list'],
  [[1], 'a list'],
  [{ a: 1 }, 'an object'],
  [Object.create(null), 'an object'],
  [new Map(), 'an instance of Map'],
  [() => 1, 'a function'],
  [Symbol('s'), 'Symbol(s)'],
])('describes %s as %s', (value, words) => {
  expect(describeValue(value)).toBe(words);
});

test('hides a secret that was passed by mistake', () => {
  expect(describeValue('sk-proj-abcdefghijklmnopqrstuvwxyz0123456789')).not.toContain('abcdefghijkl');
});
