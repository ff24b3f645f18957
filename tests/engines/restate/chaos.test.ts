// Real processes on a real server, killed in the middle of their work.
import { expect, test } from 'vitest';
import { wrongOnes } from '../../../chaos/figures.ts';
import { runRestateChaos } from './chaos/run.ts';

test('two workers lose nothing and run nothing twice despite kills of a worker and the server, a freeze and a new build', async () => {
  // Enough work that some is left after the freeze, when a worker is lost for good.
  const figures = await runRestateChaos({ sessions: 40, steps: 24, kills: 3, serverKills: 1, seed: 3 });
  expect(wrongOnes(figures)).toStrictEqual([]);
}, 180_000);
