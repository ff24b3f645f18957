import { expect, test } from 'vitest';
import { sleep } from './clock.ts';
import { nextTurn } from './event-loop.ts';
import { createFakeClock } from './fake-clock.ts';

test('time stands still until it is moved', async () => {
  const clock = createFakeClock(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  await clock.advance(250);
  expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
});

test('the wall clock can be set back and forward; timers and durations do not notice', async () => {
  const clock = createFakeClock(5_000);
  const fired: number[] = [];
  clock.schedule(100, () => fired.push(clock.monotonic()));
  clock.shiftWall(-3_000);
  expect([clock.now(), clock.monotonic()]).toEqual([2_000, 0]);
  await clock.advance(100);
  expect([clock.now(), clock.monotonic(), fired]).toEqual([2_100, 100, [100]]);
  clock.shiftWall(60_000);
  expect([clock.now(), clock.monotonic()]).toEqual([62_100, 100]);
});

test('timers fire in the order of their time, then of their making', () => {
  const clock = createFakeClock();
  const fired: string[] = [];
  clock.schedule(20, () => fired.push('late'));
  clock.schedule(10, () => fired.push('first'));
  clock.schedule(10, () => fired.push('second'));
  clock.schedule(99, () => fired.push('never'));
  clock.skip(20);
  expect(fired).toEqual(['first', 'second', 'late']);
  expect(clock.pendingTimers()).toBe(1);
});

test('a timer sees the time at which it was due, and one it sets falls due in the same move', () => {
  const clock = createFakeClock(0);
  const seen: number[] = [];
  clock.schedule(10, () => {
    seen.push(clock.now());
    clock.schedule(5, () => seen.push(clock.now()));
  });
  clock.skip(100);
  expect([seen, clock.now()]).toEqual([[10, 15], 100]);
});

test('a cancelled timer does not fire', () => {
  const clock = createFakeClock();
  let fired = false;
  clock.schedule(10, () => (fired = true))();
  clock.skip(10);
  expect([fired, clock.pendingTimers()]).toEqual([false, 0]);
});

test('advance waits for work that gives way to the event loop before it sleeps', async () => {
  const clock = createFakeClock();
  let isDone = false;
  const work = async (): Promise<void> => {
    // Later than the timer that advance() sets: what happens on a busy machine.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await nextTurn();
    await nextTurn();
    await sleep(clock, 10);
    isDone = true;
  };
  const advanced = clock.advance(10);
  const working = work();
  await advanced;
  expect(isDone).toBe(true);
  await working;
});

test('advance lets a chain of sleeps run to where time allows', async () => {
  const clock = createFakeClock();
  let naps = 0;
  const chain = async (): Promise<void> => {
    for (let nap = 0; nap < 3; nap += 1) {
      await sleep(clock, 10);
      naps += 1;
    }
  };
  const done = chain();
  await clock.advance(20);
  expect(naps).toBe(2);
  await clock.advance(10);
  await done;
  expect(naps).toBe(3);
});
