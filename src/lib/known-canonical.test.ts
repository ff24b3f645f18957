import { describe, expect, test } from 'vitest';
import { toCanonical } from './canonical.ts';
import { getKnownForm, markCanonical } from './known-canonical.ts';

describe('values known to be canonical', () => {
  test('are not walked through again', () => {
    let reads = 0;
    const watched = new Proxy({ id: 1 }, { get: (target, key, self) => ((reads += 1), Reflect.get(target, key, self) as unknown) });
    const known = markCanonical({ watched });
    expect(toCanonical(known)).toEqual({ ok: true, value: known });
    expect(reads).toBeLessThanOrEqual(1); // by the comparison itself
    reads = 0;
    toCanonical(known);
    expect(reads).toBe(0);
    toCanonical({ ...known });
    expect(reads).toBeGreaterThan(0);
  });

  test.each([
    ['a spread', (known: object) => ({ ...known })],
    ['a clone', (known: object) => structuredClone(known)],
    ['a proxy', (known: object) => new Proxy(known, {})],
    ['an object that inherits', (known: object) => Object.create(known) as object],
  ])('%s of one has no mark', (_, copy) => {
    expect(getKnownForm(copy(markCanonical({ id: 1 })))).toBeUndefined();
  });

  test('a copy with a value that JSON cannot hold is converted', () => {
    const known = markCanonical({ at: 1, id: 2 });
    expect(toCanonical({ ...known, at: new Date(0) })).toEqual({ ok: true, value: { at: '1970-01-01T00:00:00.000Z', id: 2 } });
  });

  test('are checked against limits that are narrower than usual', () => {
    const known = markCanonical({ deep: Object.freeze({ deeper: Object.freeze({ deepest: 1 }) }) });
    expect(toCanonical(known, { maxDepth: 2 }).ok).toBe(false);
    expect(toCanonical(known, { maxBytes: 5 }).ok).toBe(false);
  });
});
