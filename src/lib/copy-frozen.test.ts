import { expect, test } from 'vitest';
import { copyFrozen } from './copy-frozen.ts';

test('a frozen copy is the same data, and nobody can change it or the original through it', () => {
  const original = { list: [1, { deep: 'x' }], none: null, ['__proto__']: { odd: true } };
  const copy = copyFrozen(original);
  expect(copy).toStrictEqual(original);
  expect(copy).not.toBe(original);
  expect(() => ((copy.list[1] as { deep: string }).deep = 'y')).toThrow(TypeError);
  expect(() => copy.list.push(2)).toThrow(TypeError);
  original.list.push(3);
  expect(copy.list).toHaveLength(2);
});

test.each([1, 'x', null, true])('what cannot change comes back as it is: %o', (value) => {
  expect(copyFrozen(value)).toBe(value);
});
