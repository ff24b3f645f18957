import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSlidingSum } from './sliding-sum.ts';

test('without a limit there is always room', () => {
  const sum = createSlidingSum(undefined);
  sum.add(0, 1_000_000);
  expect(sum.freeAt(1)).toBe(1);
});

test('there is room again once enough of it is a minute old', () => {
  const sum = createSlidingSum(100);
  sum.add(0, 60);
  expect(sum.freeAt(10)).toBe(10);
  sum.add(20, 30);
  sum.add(30, 50);
  expect([sum.freeAt(30), sum.freeAt(59_999), sum.freeAt(60_000)]).toStrictEqual([60_000, 60_000, 60_000]);
  sum.add(60_000, 200);
  expect(sum.freeAt(60_000)).toBe(120_000);
});

test('a part of a limit is rounded down, and less than one a minute is a longer wait', () => {
  const sum = createSlidingSum(3);
  sum.add(0, 1);
  expect([sum.freeAt(10), sum.freeAt(10, 2), sum.freeAt(10, 3), sum.freeAt(10, 6)]).toStrictEqual([10, 60_000, 60_000, 120_000]);
  expect([sum.freeAt(60_000, 6), sum.freeAt(60_000, 3), sum.freeAt(120_000, 6)]).toStrictEqual([120_000, 60_000, 120_000]);
});

test('agrees with counting by hand, whatever was used when', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.tuple(fc.nat(30_000), fc.nat(10)), { maxLength: 40 }), (limit, steps) => {
      const sum = createSlidingSum(limit);
      const uses: { at: number; amount: number }[] = [];
      let now = 0;
      const usedAt = (at: number): number => uses.filter((use) => use.at + 60_000 > at).reduce((total, { amount }) => total + amount, 0);
      for (const [later, amount] of steps) {
        now += later;
        const freeAt = sum.freeAt(now);
        expect(usedAt(freeAt)).toBeLessThan(limit);
        if (freeAt > now) expect(usedAt(freeAt - 1)).toBeGreaterThanOrEqual(limit);
        sum.add(now, amount);
        uses.push({ at: now, amount });
      }
    }),
  );
});
