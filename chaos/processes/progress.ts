// How far the work is, as anybody can read it from the database.
import { setTimeout as pause } from 'node:timers/promises';
import type { OpenedDatabase } from './open-database.ts';
import { countSteps } from './open-database.ts';

/** Longest time without a recorded step. */
const stallMs = 120_000;

export interface Progress {
  /** Steps that are recorded. */
  readonly steps: number;
  /** Settles when so many steps are recorded. Rejects once nothing moves. */
  until(steps: number): Promise<void>;
  stop(): Promise<void>;
}

/** Counts the recorded steps again and again. */
export function watchProgress(opened: OpenedDatabase): Progress {
  const stopping = new AbortController();
  let [steps, since] = [0, performance.now()];
  const count = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // The tables are created by the first worker, and a server may be down.
      const counted = await countSteps(opened).catch(() => steps);
      if (counted > steps) [steps, since] = [counted, performance.now()];
      await pause(100);
    }
  };
  const counting = count();
  return {
    get steps() {
      return steps;
    },
    until: async (wanted) => {
      while (steps < wanted) {
        if (performance.now() - since > stallMs) throw new Error(`No step was recorded for ${stallMs / 1000} s; ${steps} are.`);
        await pause(50);
      }
    },
    stop: () => {
      stopping.abort();
      return counting;
    },
  };
}
