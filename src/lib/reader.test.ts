import { expect, test } from 'vitest';
import { DamagedDataError } from './damaged-data-error.ts';
import type { ObjectReader } from './reader.ts';
import { readArray, readJson, readObject } from './reader.ts';

const data: unknown = JSON.parse(
  '{"s":"","n":0,"b":false,"none":null,"list":["a","b"],"deep":{"x":[{"y":1}]},"kind":"cat","__proto__":{"p":1},"later":[1]}',
);

test('fields of the right kind are read, falsy ones too', () => {
  const reader = readObject(data, 'top');
  expect([reader.string('s'), reader.number('n'), reader.boolean('b')]).toEqual(['', 0, false]);
  expect(reader.oneOf('kind', ['dog', 'cat'])).toBe('cat');
  expect(reader.array('list', (item, path) => `${path}=${String(item)}`)).toEqual(['top.list[0]=a', 'top.list[1]=b']);
  expect(reader.object('deep').array('x', (item, path) => readObject(item, path).number('y'))).toEqual([1]);
  expect(reader.json('none')).toBeNull();
  expect(reader.jsonObject('deep')).toEqual({ x: [{ y: 1 }] });
  expect(reader.value('n', (value, path) => [value, path])).toEqual([0, 'top.n']);
});

test('optional fields may be missing or null', () => {
  const reader = readObject(data);
  for (const key of ['missing', 'none', 'toString', 'constructor']) {
    expect(reader.optionalString(key)).toBeUndefined();
    expect(reader.optionalNumber(key)).toBeUndefined();
    expect(reader.optionalBoolean(key)).toBeUndefined();
    expect(reader.optionalOneOf(key, ['a'])).toBeUndefined();
    expect(reader.optionalArray(key, String)).toBeUndefined();
    expect(reader.optionalObject(key)).toBeUndefined();
    expect(reader.optionalJsonObject(key)).toBeUndefined();
    expect(reader.optionalValue(key, String)).toBeUndefined();
  }
  expect([reader.optionalJson('missing'), reader.optionalJson('none')]).toEqual([undefined, null]);
  expect([reader.has('s'), reader.has('none'), reader.has('missing'), reader.has('toString')]).toEqual([true, true, false, false]);
});

test('the rest is what is not known, __proto__ among it', () => {
  const rest = readObject(data).rest(['s', 'n', 'b', 'none', 'list', 'deep', 'kind']);
  expect(JSON.stringify(rest)).toBe('{"__proto__":{"p":1},"later":[1]}');
});

test.each<[string, (reader: ObjectReader) => unknown, string, string]>([
  ['a missing string', (reader) => reader.string('missing'), 'at.missing', 'expected a string, found nothing'],
  ['null for a string', (reader) => reader.string('none'), 'at.none', 'expected a string, found null'],
  ['text for a number', (reader) => reader.optionalNumber('s'), 'at.s', 'expected a number, found a string'],
  ['a number for a boolean', (reader) => reader.boolean('n'), 'at.n', 'expected true or false, found a number'],
  ['a list for an object', (reader) => reader.object('list'), 'at.list', 'expected an object, found an array'],
  ['an object for a list', (reader) => reader.array('deep', String), 'at.deep', 'expected an array, found an object'],
  ['a stranger', (reader) => reader.oneOf('kind', ['dog']), 'at.kind', 'expected one of "dog", found "cat"'],
  ['a number for a name', (reader) => reader.oneOf('n', ['dog']), 'at.n', 'expected one of "dog", found a number'],
  ['missing JSON', (reader) => reader.json('missing'), 'at.missing', 'expected a JSON value, found nothing'],
  ['a list for a JSON object', (reader) => reader.jsonObject('list'), 'at.list', 'expected an object, found an array'],
  [
    'a field of an item',
    (reader) => reader.array('list', (item, path) => readObject(item, path)),
    'at.list[0]',
    'expected an object, found a string',
  ],
])('%s is damaged data, with path and reason', (_, read, path, words) => {
  const attempt = (): unknown => read(readObject(data, 'at'));
  expect(attempt).toThrow(DamagedDataError);
  expect(attempt).toThrow(expect.objectContaining({ path, message: `Damaged data at ${path}: ${words}.` }));
});

test('what is no object, no list or no JSON is refused at the top', () => {
  expect(() => readObject(null)).toThrow('Damaged data at the top level: expected an object, found null.');
  expect(() => readArray({}, 'list', String)).toThrow('Damaged data at list: expected an array, found an object.');
  expect(() => readObject({ n: NaN }, 'at').number('n')).toThrow('expected a finite number, found NaN');
  expect(() => readJson({ a: [new Map()] }, 'at')).toThrow('Damaged data at at: expected a JSON value, but a[0] is a Map');
});

test('the data is read, not copied or changed', () => {
  const inner = Object.freeze({ a: 1 });
  const reader = readObject(Object.freeze({ inner }));
  expect(reader.json('inner')).toBe(inner);
});

test.each([0, 1767225600000, -1, 8.64e15, -8.64e15])('a time is read as it is: %d', (at) => {
  expect(readObject({ at }).time('at')).toBe(at);
});

test.each([8.64e15 + 1, -8.64e15 - 1, Number.MAX_SAFE_INTEGER, 1e300])('a time that no date has is damage: %d', (at) => {
  expect(() => readObject({ at }, 'step').time('at')).toThrow(DamagedDataError);
  expect(() => readObject({ at }, 'step').optionalTime('at')).toThrow(/step\.at.*expected a time/);
});
