// Several real processes over a server of their own, which is restarted and cut off: see chaos/processes and chaos/builds.
import { expect, test } from 'vitest';
import { runBuilds } from '../../chaos/builds/run.ts';
import { wrongOnes } from '../../chaos/figures.ts';
import { runProcesses } from '../../chaos/processes/run.ts';

const amounts = { store: 'postgres', workers: 3, clients: 3, sessions: 12, steps: 6, seed: 1, blocks: 0 } as const;

test('nothing is lost, doubled or told wrong while processes are killed and stopped, the server restarts and commits are cut off', async () => {
  const figures = await runProcesses({ ...amounts, kills: 2, clientKills: 1, stops: 1, restarts: 2, cuts: 1 });
  expect(wrongOnes(figures)).toStrictEqual([]);
  expect(figures.find(({ what }) => what === 'steps in the log')?.value).toBe(72);
}, 120_000);

test('workers and clients of two builds take turns, and a field that only one of them knows is kept', async () => {
  const figures = await runBuilds({ ...amounts, kills: 2, clientKills: 0, stops: 0, restarts: 0, cuts: 0 });
  expect(wrongOnes(figures)).toStrictEqual([]);
}, 120_000);
