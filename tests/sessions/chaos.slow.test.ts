// Real processes over a real file, killed and stopped in the middle of their work: see chaos/.
import { expect, test } from 'vitest';
import { wrongOnes } from '../../chaos/figures.ts';
import { runKills } from '../../chaos/kills.ts';
import { runPoison } from '../../chaos/poison.ts';
import { runZombie, zombieScenes } from '../../chaos/zombie.ts';

test('200 sessions of 20 steps come through 8 kills with nothing lost, done twice or told wrong', async () => {
  const figures = await runKills({ sessions: 200, steps: 20, kills: 8, seed: 1 });
  expect(wrongOnes(figures)).toStrictEqual([]);
  expect(figures.find(({ what }) => what === 'kills')?.value).toBe(8);
  expect(figures.find(({ what }) => what === 'steps in the log')?.value).toBe(4000);
});

test.each(zombieScenes)('a worker that is taken for gone, $name, writes nothing more with its old leases', async (scene) => {
  const figures = await runZombie(scene);
  expect(wrongOnes(figures)).toStrictEqual([]);
});

test('a session that kills its workers comes to wait after 3 attempts, all others finish, and resume releases it', async () => {
  expect(wrongOnes(await runPoison())).toStrictEqual([]);
});
