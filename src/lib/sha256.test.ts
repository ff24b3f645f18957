import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

const hex = (bytes: ArrayBuffer): string => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
const nativeSha256 = async (text: string): Promise<string> => hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
])('hashes %j as the standard says', (text, digest) => {
  expect(sha256(text)).toBe(digest);
});

test('hashes every text as the platform does, at every length around a block', async () => {
  for (let length = 0; length < 140; length += 1) expect(sha256('x'.repeat(length))).toBe(await nativeSha256('x'.repeat(length)));
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (text) => {
      expect(sha256(text)).toBe(await nativeSha256(text));
    }),
  );
});
