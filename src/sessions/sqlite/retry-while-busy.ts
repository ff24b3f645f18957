import type { Clock } from '../../lib/index.ts';
import { sleep } from '../../lib/index.ts';
import { StoreUnavailableError } from '../index.ts';
import { getResultName } from './classify-error.ts';

/** Time that SQLite itself waits, and blocks the event loop: enough for the short writes of another process. */
export const blockingMs = 20;

const firstPauseMs = 10;
const longestPauseMs = 500;

/** True if another connection holds the database. */
export function isBusy(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return error.problem === 'busy';
  const name = getResultName(error);
  return name === 'BUSY' || name === 'LOCKED';
}

const toSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

/** Wait for a database that another process has locked. */
export interface BusyOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Runs work, and runs it again with growing pauses while another process holds the database, until the time is over. */
export async function retryWhileBusy<Value>(work: () => Value | Promise<Value>, { clock, timeoutMs }: BusyOptions): Promise<Value> {
  const began = clock.monotonic();
  for (let attempts = 1, pauseMs = firstPauseMs; ; attempts += 1, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      const passedMs = clock.monotonic() - began;
      const leftMs = timeoutMs - passedMs;
      if (leftMs <= 0) {
        const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
        throw new StoreUnavailableError('busy', `another process has held it for ${toSeconds(passedMs)} (${times})`, error);
      }
      await sleep(clock, Math.min(pauseMs, leftMs));
    }
  }
}
