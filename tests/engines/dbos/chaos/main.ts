// Kills DBOS executors while they work and checks that nothing is lost, repeated or wrong. Exits with 1 if anything is.
//   npm run chaos:dbos                                    100 sessions × 20 steps of four calls, 8 kills, the last one for good
//   npm run chaos:dbos -- --sessions 20 --steps 10 --kills 3 --seed 7
import { parseArgs } from 'node:util';
import { toTable, wrongOnes } from '../../../../chaos/figures.ts';
import { runDbosChaos } from './run.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '100' },
    steps: { type: 'string', default: '20' },
    kills: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
  },
});

function readNumber(name: keyof typeof values): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0, not "${values[name]}".`);
}

const [sessions, steps, kills, seed] = [readNumber('sessions'), readNumber('steps'), readNumber('kills'), readNumber('seed')];
const figures = await runDbosChaos({ sessions, steps, kills, seed, onProgress: print });
print(`\n${toTable(`DBOS: ${sessions} sessions × ${steps} steps, ${kills} kills, seed ${seed}`, figures)}`);
const wrong = wrongOnes(figures);
print(wrong.length === 0 ? '\nAll figures are right.' : `\n${wrong.length} figures are wrong.`);
process.exitCode = wrong.length === 0 ? 0 : 1;
