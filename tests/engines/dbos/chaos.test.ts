// Real processes on a real database, killed in the middle of their work; the survivor takes over.
import { expect, test } from 'vitest';
import { wrongOnes } from '../../../chaos/figures.ts';
import { runDbosChaos } from './chaos/run.ts';

test('two executors lose nothing and run nothing twice in three kills, the last one for good', async () => {
  const figures = await runDbosChaos({ sessions: 16, steps: 12, kills: 3, seed: 3 });
  expect(wrongOnes(figures)).toStrictEqual([]);
}, 180_000);
