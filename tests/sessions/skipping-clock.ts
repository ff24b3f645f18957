// The machine's clock, which can be moved on: waiting takes as long as always, unless somebody skips the time.
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/lib/index.ts';
import { systemClock } from '../../src/lib/index.ts';

export interface SkippingClock extends Clock {
  /** Moves time on at once, as for a machine that was asleep; timers that are due then fire in their order. */
  readonly advance: (ms: number) => Promise<void>;
}

interface Timer {
  readonly dueAt: number;
  readonly call: () => void;
  readonly inBackground: boolean;
  cancel: () => void;
}

export function createSkippingClock(): SkippingClock {
  const timers = new Set<Timer>();
  let skipped = 0;
  const monotonic = (): number => systemClock.monotonic() + skipped;
  const arm = (timer: Timer): void => {
    timer.cancel();
    const fire = (): void => {
      if (timers.delete(timer)) timer.call();
    };
    timer.cancel = systemClock.schedule(timer.dueAt - monotonic(), fire, timer.inBackground);
  };
  return {
    now: () => systemClock.now() + skipped,
    monotonic,
    schedule: (afterMs, call, inBackground = false) => {
      const timer: Timer = { dueAt: monotonic() + afterMs, call, inBackground, cancel: () => undefined };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    advance: async (ms) => {
      skipped += ms;
      const all = [...timers].toSorted((one, other) => one.dueAt - other.dueAt);
      for (const timer of all) {
        if (timer.dueAt > monotonic()) {
          if (timers.has(timer)) arm(timer);
        } else if (timers.delete(timer)) {
          timer.cancel();
          timer.call();
          await setImmediate();
        }
      }
      await setImmediate();
    },
  };
}
