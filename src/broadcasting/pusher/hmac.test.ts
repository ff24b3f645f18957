import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { toHmac } from './hmac.ts';

describe('toHmac()', () => {
  it('is what Node computes, for any secret and any text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(text, text, (secret, signed) => toHmac(secret, signed) === createHmac('sha256', secret).update(signed).digest('hex')),
    );
  });
});
