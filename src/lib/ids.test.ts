import { expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';
import { createCountingIds, createIdSource, systemIds } from './ids.ts';

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('ids have the form of UUID version 7 and differ', () => {
  const ids = Array.from({ length: 100 }, () => systemIds());
  for (const id of ids) expect(id).toMatch(uuidV7);
  expect(new Set(ids).size).toBe(100);
});

test('ids sort by the time of their making', () => {
  const clock = createFakeClock();
  const next = createIdSource(clock);
  const ids = Array.from({ length: 50 }, () => {
    clock.skip(1);
    return next();
  });
  expect([...ids].sort()).toEqual(ids);
});

test('the time can be read from an id', () => {
  const id = createIdSource(createFakeClock(Date.UTC(2026, 0, 1)))();
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.UTC(2026, 0, 1));
});

test('counting ids count, each source for itself', () => {
  const [first, second] = [createCountingIds(), createCountingIds('call')];
  expect([first(), first(), second()]).toEqual(['id-1', 'id-2', 'call-1']);
});
