// Several real processes over one SQLite file: see chaos/processes and chaos/builds.
import { expect, test } from 'vitest';
import { runBuilds } from '../../chaos/builds/run.ts';
import { wrongOnes } from '../../chaos/figures.ts';
import { runProcesses } from '../../chaos/processes/run.ts';

test('four clients see every event and approve each call once while workers are killed and one is stopped for a while', async () => {
  const figures = await runProcesses({ store: 'sqlite', sessions: 12, steps: 6, seed: 1, kills: 2, freezes: 1, restarts: 0, cuts: 0 });
  expect(wrongOnes(figures)).toStrictEqual([]);
  expect(figures.find(({ what }) => what === 'steps in the log')?.value).toBe(72);
});

test('workers and clients of two builds take turns, and a field that only one of them knows is kept', async () => {
  const figures = await runBuilds({ store: 'sqlite', sessions: 12, steps: 6, seed: 1, kills: 2 });
  expect(wrongOnes(figures)).toStrictEqual([]);
});
