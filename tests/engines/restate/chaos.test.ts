// Real processes, a real server and a real store: whichever is killed, the session is continued.
import { expect, test } from 'vitest';
import { wrongOnes } from '../../../chaos/figures.ts';
import { runRestateChaos } from './chaos/run.ts';

test('sessions that Restate runs lose nothing and do nothing twice in four kills, one of them of the server too', async () => {
  const figures = await runRestateChaos({ sessions: 10, steps: 10, kills: 4, serverKills: 1, seed: 3 });
  expect(wrongOnes(figures)).toStrictEqual([]);
}, 120_000);
