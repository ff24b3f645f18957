import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../lib/index.ts';
import { DamagedDataError } from '../../lib/index.ts';
import { restoreKeys, shortenKeys } from './short-keys.ts';

test('shortens the names of a stored state and leaves others as they are', () => {
  expect(shortenKeys({ execution: { number: 2, results: [] }, q: [{ toolName: 'a' }] })).toEqual({
    _a: { _V: 2, _b: [] },
    q: [{ _L: 'a' }],
  });
});

test('gives every name back, also one that looks like a code', () => {
  const key = fc.oneof(fc.string(), fc.constantFrom('_a', '__a', '_', 'execution', '__proto__', 'type'));
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.string(), fc.constant(null), fc.array(tie('value')), fc.dictionary(key, tie('value'))),
  })).value;
  fc.assert(
    fc.property(json, (value) => {
      expect(restoreKeys(shortenKeys(value), '')).toEqual(value);
    }),
  );
});

test('a code that names no field is damage, and its place is named', () => {
  const attempt = (): unknown => restoreKeys({ _a: [{ '_?': 1 }] }, 'state');
  expect(attempt).toThrow(DamagedDataError);
  expect(attempt).toThrow(expect.objectContaining({ path: 'state.execution[0]["_?"]' }));
});
