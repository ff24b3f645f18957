// Kills workers in the middle of their work and shows that nothing is lost, done twice or told wrong. Exits with 1 if anything is.
//   npm run chaos                                    1,000 sessions × 40 steps, 40 kills, then the zombies and the poisoned session
//   npm run chaos -- --sessions 200 --steps 20 --kills 8 --seed 7
//   npm run chaos -- --zombie                        the zombies alone
//   npm run chaos -- --poison                        the session that kills its workers alone
import { parseArgs } from 'node:util';
import type { Figure } from './figures.ts';
import { toTable, wrongOnes } from './figures.ts';
import { runKills } from './kills.ts';
import { runPoison } from './poison.ts';
import { runZombie, zombieScenes } from './zombie.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    steps: { type: 'string', default: '40' },
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    zombie: { type: 'boolean', default: false },
    poison: { type: 'boolean', default: false },
  },
});

function readNumber(name: 'sessions' | 'steps' | 'kills' | 'seed'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0, not "${values[name]}".`);
}

const all: Figure[] = [];
function show(title: string, figures: readonly Figure[]): void {
  all.push(...figures);
  print(`\n${toTable(title, figures)}`);
}

const { zombie, poison } = values;
if (!zombie && !poison) {
  const [sessions, steps, kills, seed] = [readNumber('sessions'), readNumber('steps'), readNumber('kills'), readNumber('seed')];
  const title = `${sessions} sessions × ${steps} steps, ${kills} kills, seed ${seed}`;
  show(title, await runKills({ sessions, steps, kills, seed, onProgress: print }));
}
for (const scene of zombie || !poison ? zombieScenes : []) {
  show(`A worker that is taken for gone, ${scene.name}: ${scene.sessions} sessions × ${scene.steps} steps`, await runZombie(scene));
}
if (poison || !zombie) show('A session that kills its workers, among healthy ones', await runPoison());
const wrong = wrongOnes(all);
print(wrong.length === 0 ? '\nAll figures are right.' : `\n${wrong.length} figures are wrong.`);
process.exitCode = wrong.length === 0 ? 0 : 1;
