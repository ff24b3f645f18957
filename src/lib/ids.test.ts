import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSecret } from './create-secret.ts';
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

test('id sources created in the same millisecond produce different ids', () => {
  const clock = createFakeClock();
  const sources = Array.from({ length: 20 }, () => createIdSource(clock));
  const ids = Array.from({ length: 50 }, () => sources.map((next) => next())).flat();
  expect(new Set(ids).size).toBe(1000);
});

test('ids stay unique and well-formed when the counter of a millisecond is used up', () => {
  const next = createIdSource(createFakeClock());
  const ids = Array.from({ length: 10_000 }, () => next());
  expect(new Set(ids).size).toBe(10_000);
  expect(ids.filter((id) => !uuidV7.test(id))).toEqual([]);
});

test('ids stay unique when the clock goes back to a millisecond that had ids', () => {
  let now = 1_000;
  const next = createIdSource({ ...createFakeClock(), now: () => now });
  const ids = Array.from({ length: 200 }, (_, index) => {
    now = 1_000 + (index % 2);
    return next();
  });
  expect(new Set(ids).size).toBe(200);
});

test('ids of one millisecond sort in creation order', () => {
  const next = createIdSource(createFakeClock());
  const ids = Array.from({ length: 4096 }, () => next());
  expect(ids.toSorted()).toEqual(ids);
});

// An id can be guessed from the one before it.
test('no secret is created from ids', () => {
  const sources = globSync('src/**/*.ts').filter((file) => !file.includes('.test'));
  const secretOfIds = /(?:secret|token|password|signature|nonce)\w*\s*[=:?][^;\n]*\b(?:systemIds|ids|createIdSource)\(/i;
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.filter((file) => secretOfIds.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('a secret has 256 random bits, none of them from a clock or a counter', () => {
  const secrets = Array.from({ length: 64 }, createSecret);
  for (const secret of secrets) expect(secret).toMatch(/^[\da-f]{64}$/);
  const places = Array.from({ length: 64 }, (_, place) => new Set(secrets.map((secret) => secret[place])).size);
  expect(Math.min(...places)).toBeGreaterThan(8);
});
