// Real processes on a real server, killed in the middle of their work.
import { expect, test } from 'vitest';
import { wrongOnes } from '../../../chaos/figures.ts';
import { runRestateChaos, secondsToRest } from './chaos/run.ts';

test('two workers lose nothing and run nothing twice despite kills of a worker and the server, a freeze and a new build', async () => {
  const figures = await runRestateChaos({ sessions: 40, steps: 20, kills: 3, serverKills: 1, seed: 3 });
  // How soon they rest is a matter of the machine: `npm run chaos:restate` checks that.
  expect(wrongOnes(figures).filter(({ what }) => what !== secondsToRest)).toStrictEqual([]);
}, 180_000);
