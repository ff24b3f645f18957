import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sleep, systemClock } from './clock.ts';
import { createFakeClock } from './fake-clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the system clock waits longer than one timer can', () => {
  const call = vi.fn();
  systemClock.schedule(2 ** 31 + 5_000, call);
  vi.advanceTimersByTime(2 ** 31 + 4_999);
  expect(call).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(call).toHaveBeenCalledTimes(1);
});

test('a long wait can be cancelled in its second leg', () => {
  const call = vi.fn();
  const cancel = systemClock.schedule(2 ** 31 + 5_000, call);
  vi.advanceTimersByTime(2 ** 31);
  cancel();
  vi.advanceTimersByTime(2 ** 31);
  expect(call).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('a negative wait is no wait', () => {
  const call = vi.fn();
  systemClock.schedule(-5, call);
  vi.advanceTimersByTime(0);
  expect(call).toHaveBeenCalledTimes(1);
});

test('the system clock tells time and never goes back', () => {
  vi.useRealTimers();
  const before = Date.now();
  const [first, second] = [systemClock.monotonic(), systemClock.monotonic()];
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(second).toBeGreaterThanOrEqual(first);
});

test('sleep ends when its time has come', async () => {
  const slept = sleep(systemClock, 1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(slept).resolves.toBeUndefined();
});

test('sleep rejects with the reason of the abort and leaves no timer behind', async () => {
  const clock = createFakeClock();
  const controller = new AbortController();
  const slept = sleep(clock, 1_000, controller.signal);
  expect(clock.pendingTimers()).toBe(1);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(slept).rejects.toBe(reason);
  expect(clock.pendingTimers()).toBe(0);
});

test('sleep on an aborted signal does not begin', async () => {
  const clock = createFakeClock();
  await expect(sleep(clock, 1, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  expect(clock.pendingTimers()).toBe(0);
});
