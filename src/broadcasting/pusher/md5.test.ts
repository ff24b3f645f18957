import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { md5 } from './md5.ts';

const compute = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

describe('md5()', () => {
  it('is what Node computes, for every length around a block', () => {
    for (let length = 0; length <= 130; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256);
      expect(md5(bytes)).toBe(compute(bytes));
    }
  });

  it('is what Node computes, for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => md5(bytes) === compute(bytes)));
  });
});
