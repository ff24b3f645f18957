// Several real processes over one SQLite file: see chaos/processes and chaos/builds.
import { expect, test } from 'vitest';
import { runBuilds } from '../../chaos/builds/run.ts';
import { wrongOnes } from '../../chaos/figures.ts';
import { runProcesses } from '../../chaos/processes/run.ts';

const amounts = { store: 'sqlite', workers: 3, clients: 3, sessions: 12, steps: 6, seed: 1, kills: 2, restarts: 0, cuts: 0 } as const;

test('clients see every event and approve each call once while processes are killed, and workers are stopped or kept busy for a while', async () => {
  const figures = await runProcesses({ ...amounts, clientKills: 1, stops: 1, blocks: 1 });
  expect(wrongOnes(figures)).toStrictEqual([]);
  expect(figures.find(({ what }) => what === 'steps in the log')?.value).toBe(72);
});

test('workers and clients of two builds take turns, and a field that only one of them knows is kept', async () => {
  const figures = await runBuilds({ ...amounts, clientKills: 0, stops: 0, blocks: 0 });
  expect(wrongOnes(figures)).toStrictEqual([]);
});
