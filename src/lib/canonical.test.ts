import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalLimits, CanonicalResult } from './canonical.ts';
import { toCanonical } from './canonical.ts';
import { jsonCopy, toFrozen } from './copy-frozen.ts';

const canonical = (value: unknown): unknown => {
  const result = toCanonical(value);
  if (!result.ok) throw new Error(`${result.path}: ${result.problem}`);
  return result.value;
};
const problem = (value: unknown, limits?: CanonicalLimits): CanonicalResult => toCanonical(value, limits);
const nest = (depth: number): unknown => (depth === 0 ? 'core' : [nest(depth - 1)]);
const anything = (): fc.Arbitrary<unknown> =>
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    stringUnit: 'binary',
    key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON', 'constructor', 'a\0', 'a\uFFFD', '\uD800')),
    values: [
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.double(),
        fc.boolean(),
        fc.constant(undefined),
        fc.constant(Symbol('s')),
        fc.func(fc.nat()),
      ),
    ],
  });

class Point {
  x = 1;
  #hidden = 2;
  get sum(): number {
    return this.x + this.#hidden;
  }
}

test.each<[string, unknown, unknown]>([
  ['an undefined field is dropped', { a: undefined, b: 1 }, { b: 1 }],
  ['undefined in a list becomes null', [undefined, 1], [null, 1]],
  ['undefined alone becomes null', undefined, null],
  ['numbers that JSON lacks become null', [NaN, Infinity, -Infinity], [null, null, null]],
  ['minus zero becomes zero', { a: -0 }, { a: 0 }],
  ['a date becomes ISO text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['an invalid date becomes null', new Date(NaN), null],
  ['a big integer becomes text', 12345678901234567890n, '12345678901234567890'],
  ['toJSON is honoured, with its key', { a: { toJSON: (key: string) => ({ key }) } }, { a: { key: 'a' } }],
  ['toJSON that gives undefined drops the field', { a: { toJSON: () => undefined } }, {}],
  ['toJSON that gives its object is asked once', { a: { n: 1, toJSON: (): unknown => ({ n: 1 }) } }, { a: { n: 1 } }],
  ['a URL becomes its text', new URL('https://example.com/a'), 'https://example.com/a'],
  ['functions and symbols are dropped from objects', { a: () => 1, b: Symbol('b'), c: 1 }, { c: 1 }],
  ['functions and symbols leave null in lists', [() => 1, Symbol('b')], [null, null]],
  ['symbol keys are dropped', { [Symbol('a')]: 1, b: 2 }, { b: 2 }],
  ['a lone surrogate is replaced', 'a\uD800b', 'a\uFFFDb'],
  ['NUL is replaced', 'a\0b', 'a\uFFFDb'],
  ['a broken key is replaced', { 'a\0': 1 }, { 'a\uFFFD': 1 }],
  ['whole pairs are kept', '😀', '😀'],
  ['a hole in a list becomes null', [1, , 3], [1, null, 3]], // eslint-disable-line no-sparse-arrays
  ['a class instance becomes its own data', new Point(), { x: 1 }],
  ['a getter becomes its value', { get a() { return 1; } }, { a: 1 }], // prettier-ignore
  ['boxed values are taken out of their box', [Object('a'), Object(1), Object(true)], ['a', 1, true]],
  ['fields beside the items of a list are dropped', Object.assign([1], { index: 3 }), [1]],
])('%s', (_, value, expected) => {
  expect(canonical(value)).toStrictEqual(expected);
});

test.each<[string, unknown, string, RegExp]>([
  ['a Map', { a: [new Map()] }, 'a[0]', /is a Map/],
  ['a Set', new Set(), '', /is a Set/],
  ['bytes', { 'raw data': new Uint8Array(3) }, '["raw data"]', /raw bytes/],
  ['a Node buffer, although it has toJSON', { a: Buffer.from('a') }, 'a', /raw bytes/],
  ['an ArrayBuffer', new ArrayBuffer(3), '', /raw bytes/],
  ['a blob', new Blob(['a']), '', /raw bytes/],
  ['a promise', { a: Promise.resolve(1) }, 'a', /await it first/],
  ['depth 65', nest(65), '[0]'.repeat(64), /deeper than 64/],
  ['a getter that throws', { a: { get b(): never { throw new Error('not now'); } } }, 'a.b', /could not be read: not now/], // prettier-ignore
  ['a toJSON that throws', [{ toJSON: (): never => { throw new Error('no'); } }], '[0]', /could not be read: no/], // prettier-ignore
  ['a thrown thing that throws', { get a(): never { throw Object.create(null); } }, 'a', /cannot be read itself/], // prettier-ignore
  ['two keys that become one', { 'a\0': 1, 'a\uFFFD': 2 }, '["a\\u0000"]', /name of another field/],
  ['two broken keys that become one', { 'a\0': 1, 'a\uD800': 2 }, '["a\\ud800"]', /name of another field/],
])('%s is refused, with its path', (_, value, path, words) => {
  const result = problem(value);
  expect(result).toMatchObject({ ok: false, path });
  expect(result.ok ? '' : result.problem).toMatch(words);
});

test('a cycle is refused and named', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = { again: cycle };
  expect(problem(cycle)).toEqual({ ok: false, path: 'self.again', problem: 'refers back to a value that contains it' });
});

test('a getter is read once, and its value is kept', () => {
  let reads = 0;
  const value = canonical({ inner: { get next() { return (reads += 1); } } }); // prettier-ignore
  expect([JSON.stringify(value), JSON.stringify(value), reads]).toStrictEqual(['{"inner":{"next":1}}', '{"inner":{"next":1}}', 1]);
});

test('calls toJSON even if it is not enumerable', () => {
  const hidden = Object.defineProperty({ secret: 1 }, 'toJSON', { value: () => 'shown' });
  expect(canonical({ hidden })).toStrictEqual({ hidden: 'shown' });
});

test.each(['a', 'a\0', { b: 1 }, undefined])('a field that every object inherits is not data: %j', (inherited) => {
  const prototype = Object.prototype as { polluted?: unknown };
  prototype.polluted = inherited;
  try {
    const value = { a: [{}] };
    expect([JSON.stringify(canonical(value)), canonical(value) === value]).toStrictEqual(['{"a":[{}]}', true]);
    expect([jsonCopy(value), toFrozen(value)].map((copy) => JSON.stringify(copy))).toStrictEqual(['{"a":[{}]}', '{"a":[{}]}']);
  } finally {
    delete prototype.polluted;
  }
});

test('rejects bytes with any prototype', () => {
  expect(problem(Object.setPrototypeOf(new Uint8Array(2), Object.prototype))).toMatchObject({ ok: false, problem: /raw bytes/ });
});

test('a revoked proxy is refused', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(problem({ a: proxy })).toMatchObject({ ok: false, path: 'a' });
});

test('the same object may stand in two places', () => {
  const shared = { n: 1 };
  const value = { a: shared, b: [shared] };
  expect(canonical(value)).toBe(value);
});

test('64 levels are allowed', () => {
  const value = nest(64);
  expect(canonical(value)).toBe(value);
});

test('a value that is canonical already comes back as it is, parts of a changed one too', () => {
  const value = { text: 'a', list: [1, null, true, { deep: 'x' }], empty: {}, none: [] };
  expect(canonical(value)).toBe(value);
  const changed = canonical({ kept: value, gone: undefined }) as { kept: unknown };
  expect(changed.kept).toBe(value);
});

test('__proto__ stays an own key', () => {
  const value: unknown = JSON.parse('{"__proto__":{"a":1},"b":2}');
  expect(canonical(value)).toBe(value);
  const copied = canonical(Object.assign(Object.create(null), { b: undefined, ['__proto__']: { a: 1 } })) as object;
  expect(Object.keys(copied)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
  expect(JSON.stringify(copied)).toBe('{"__proto__":{"a":1}}');
});

test('the input is never changed', () => {
  const value = Object.freeze({ a: Object.freeze([undefined, -0]), b: undefined });
  expect(canonical(value)).toEqual({ a: [null, 0] });
});

test('size is counted in UTF-8 bytes of the JSON text, exactly at the border', () => {
  const value = { 'ключ\n': ['"', '😀', '\u0001', -1.5e-300, false, null], other: 'plain' };
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  expect(problem(value, { maxBytes: bytes }).ok).toBe(true);
  expect(problem(value, { maxBytes: bytes - 1 })).toEqual({
    ok: false,
    path: '',
    problem: `takes ${bytes} bytes as JSON, and at most ${bytes - 1} can be stored`,
    isTooLarge: true,
  });
});

test('text of just under a megabyte fits, above it does not', () => {
  expect(problem('a'.repeat(999_998)).ok).toBe(true);
  expect(problem({ a: 'a'.repeat(1_000_000) })).toMatchObject({ ok: false, path: '' });
});

test('what would be endless when written out is refused quickly', () => {
  let doubled: unknown = ['x'];
  for (let level = 0; level < 60; level += 1) doubled = [doubled, doubled];
  expect(problem(doubled).ok).toBe(false);
  expect(problem(new Array(2 ** 32 - 1)).ok).toBe(false);
});

test('V1, V2: whatever comes in, canonical is a fixed point that JSON keeps, and nothing throws', () => {
  fc.assert(
    fc.property(anything(), (input) => {
      const once = toCanonical(input);
      if (!once.ok) return;
      const again = toCanonical(once.value);
      expect(again.ok && again.value === once.value).toBe(true);
      expect(isDeepStrictEqual(JSON.parse(JSON.stringify(once.value)), once.value)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('what JSON.parse gives is canonical, unless its text holds broken characters', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text);
      expect(toCanonical(value)).toMatchObject({ ok: true });
      if (!/\\u0000|\\ud|-0/i.test(text)) expect(canonical(value)).toBe(value);
    }),
  );
});

test('the size check never lets a larger text through', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat({ max: 200 }), (value, maxBytes) => {
      const result = toCanonical(value, { maxBytes });
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
      if (result.ok) expect(new TextEncoder().encode(JSON.stringify(result.value)).length).toBeLessThanOrEqual(maxBytes);
      else expect(bytes).toBeGreaterThan(maxBytes);
    }),
  );
});
