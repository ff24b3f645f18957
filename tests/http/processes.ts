// A worker and a web server for a test.
import { onTestFinished } from 'vitest';
import type { Pair } from './pair.ts';
import { openPair } from './pair.ts';

/** Starts both; they end with the test. */
export async function startPair(): Promise<Pair> {
  const pair = await openPair();
  onTestFinished(() => pair.end());
  return pair;
}
