import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countBytes } from './count-bytes.ts';

test('counts the bytes that a text takes in UTF-8', () => {
  const unit = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\uD800', '\uDC00', 'é', '漢', '😀', '\0'));
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const text = units.join('');
      expect(countBytes(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});
