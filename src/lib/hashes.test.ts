import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { hmacSha256, md5, sha256 } from './hashes.ts';

const text = fc.string({ unit: 'binary', maxLength: 300, size: 'max' });

test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
])('sha256() hashes %j as the standard says', (given, digest) => {
  expect(sha256(given)).toBe(digest);
});

describe.each([
  { name: 'sha256()', ours: sha256, node: (given: string) => createHash('sha256').update(given).digest('hex') },
  { name: 'md5()', ours: md5, node: (given: string) => createHash('md5').update(given).digest('hex') },
  {
    name: 'hmacSha256()',
    ours: (given: string) => hmacSha256(given, given),
    node: (given: string) => createHmac('sha256', given).update(given).digest('hex'),
  },
])('$name', ({ ours, node }) => {
  it('is what Node computes, for every length around a block', () => {
    for (let length = 0; length < 140; length += 1) expect(ours('x'.repeat(length))).toBe(node('x'.repeat(length)));
  });

  it('is what Node computes, for any text', () => {
    fc.assert(fc.property(text, (given) => ours(given) === node(given)));
  });
});
