import type { Clock } from './clock.ts';
import { nextTurn } from './event-loop.ts';

/** A clock that moves only when told to. Timers that fall due fire in the order of their time, then of their making. */
export interface FakeClock extends Clock {
  /** Moves time on and fires due timers; promises that they settle run before this resolves. */
  readonly advance: (ms: number) => Promise<void>;
  /** Moves time on without letting anything else run; timers that fall due fire synchronously. */
  readonly skip: (ms: number) => void;
  /** Sets the wall clock forward, or back if negative, as an operator or a time server does. Timers and `monotonic` are not affected. */
  readonly shiftWall: (ms: number) => void;
  /** Returns the number of pending timers; 0 after a run shows that nothing was left behind. */
  readonly pendingTimers: () => number;
}

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly call: () => void;
}

/** Longest real time of a turn in which nothing has given way: long work does so every eight milliseconds, and then more is to come. */
const quietMs = 6;

const nothing = new Uint8Array();

/**
 * Lets everything run that is ready: queued microtasks, however deep the chain, work that gives way to the event loop some times, and
 * hashes, which are computed on another thread: those that were asked for before this one are ready before it.
 */
async function settle(): Promise<void> {
  for (let quiet = 0, turn = 0; quiet < 2 && turn < 20; turn += 1) {
    const began = performance.now();
    await Promise.all([new Promise((resolve) => setTimeout(resolve, 0)), crypto.subtle.digest('SHA-256', nothing)]);
    for (let times = 0; times < 4; times += 1) await nextTurn();
    quiet = performance.now() - began < quietMs ? quiet + 1 : 0;
  }
}

/** Makes a fake clock. @default startAt 2026-01-01T00:00:00Z */
export function createFakeClock(startAt: number = Date.UTC(2026, 0, 1)): FakeClock {
  const timers = new Set<Timer>();
  let elapsed = 0;
  let shifted = 0;
  let made = 0;

  const nextDue = (limit: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueAt > limit) continue;
      if (next === undefined || timer.dueAt < next.dueAt || (timer.dueAt === next.dueAt && timer.order < next.order)) next = timer;
    }
    return next;
  };
  const fire = (timer: Timer): void => {
    timers.delete(timer);
    elapsed = Math.max(elapsed, timer.dueAt);
    timer.call();
  };

  return {
    now: () => startAt + shifted + elapsed,
    monotonic: () => elapsed,
    schedule: (afterMs, call) => {
      const timer: Timer = { dueAt: elapsed + Math.max(0, afterMs), order: (made += 1), call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: async (ms) => {
      const target = elapsed + ms;
      await settle();
      for (let due = nextDue(target); due !== undefined; due = nextDue(target)) {
        fire(due);
        await settle();
      }
      elapsed = Math.max(elapsed, target);
    },
    skip: (ms) => {
      const target = elapsed + ms;
      for (let due = nextDue(target); due !== undefined; due = nextDue(target)) fire(due);
      elapsed = Math.max(elapsed, target);
    },
    shiftWall: (ms) => {
      shifted += ms;
    },
    pendingTimers: () => timers.size,
  };
}
