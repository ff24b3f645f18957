import type { Clock } from '../../lib/index.ts';
import { sleep } from '../../lib/index.ts';
import { StoreUnavailableError } from '../index.ts';
import { isConnectionLost, isPassing, toWords } from './classify-error.ts';

const firstPauseMs = 10;
const longestPauseMs = 500;

const toSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

interface RetryOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

function giveUp(error: unknown, passedMs: number, attempts: number): StoreUnavailableError {
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const words = `(${times}, the last: "${toWords(error)}")`;
  if (isPassing(error))
    return new StoreUnavailableError('busy', `other transactions have locked its rows for ${toSeconds(passedMs)} ${words}`, error);
  const advice = 'Nothing was written. Sessions continue once the server can be reached again.';
  return new StoreUnavailableError('failed', { what: `Postgres could not be reached for ${toSeconds(passedMs)} ${words}`, advice }, error);
}

/** Runs work, and runs it again with growing pauses while the server cannot be reached or others hold its rows, until the time is over. */
export async function retryWhilePassing<Value>(work: () => Promise<Value>, { clock, timeoutMs }: RetryOptions): Promise<Value> {
  const began = clock.monotonic();
  for (let attempts = 1, pauseMs = firstPauseMs; ; attempts += 1, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionLost(error) && !isPassing(error)) throw error;
      const passedMs = clock.monotonic() - began;
      const leftMs = timeoutMs - passedMs;
      if (leftMs <= 0) throw giveUp(error, passedMs, attempts);
      await sleep(clock, Math.min(pauseMs, leftMs));
    }
  }
}
