import { expect, test } from 'vitest';
import { createBreather } from './event-loop.ts';

test('a breather lets timers run in the middle of long work', async () => {
  const breathe = createBreather(0);
  let hasRun = false;
  setTimeout(() => (hasRun = true), 0);
  await breathe();
  await breathe();
  expect(hasRun).toBe(true);
});

test('a breather does not hold up short work', async () => {
  const breathe = createBreather(60_000);
  let hasRun = false;
  setTimeout(() => (hasRun = true), 0);
  for (let piece = 0; piece < 1000; piece += 1) await breathe();
  expect(hasRun).toBe(false);
});
