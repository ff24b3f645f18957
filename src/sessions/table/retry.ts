import type { Clock } from '../../lib/index.ts';
import { sleep } from '../../lib/index.ts';

const firstPauseMs = 10;
const longestPauseMs = 500;

const toSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

/** Time for which work is tried again, and when. */
export interface RetryOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** True if the same work may succeed a moment later. */
  readonly isPassing: (error: unknown) => boolean;
  /** Returns the error for work that has failed until the end. */
  readonly giveUp: (error: unknown, passed: { readonly seconds: string; readonly attempts: string }) => Error;
}

/** Runs work, and runs it again with growing pauses while others are in the way, until the time is over. */
export async function retryWhilePassing<Value>(
  work: () => Value | Promise<Value>,
  { clock, timeoutMs, isPassing, giveUp }: RetryOptions,
): Promise<Value> {
  const began = clock.monotonic();
  for (let attempts = 1, pauseMs = firstPauseMs; ; attempts += 1, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const passedMs = clock.monotonic() - began;
      const leftMs = timeoutMs - passedMs;
      if (leftMs <= 0)
        throw giveUp(error, { seconds: toSeconds(passedMs), attempts: attempts === 1 ? '1 attempt' : `${attempts} attempts` });
      await sleep(clock, Math.min(pauseMs, leftMs));
    }
  }
}
