// Kills workers and the server while they work and checks that nothing is lost, repeated or wrong. Exits with 1 if anything is.
//   npm run chaos:restate              200 sessions × 20 steps of four calls, 10 kills of a worker, 3 of the server, a freeze, a new build
//   npm run chaos:restate -- --sessions 20 --steps 10 --kills 3 --server-kills 1 --seed 7
import { parseArgs } from 'node:util';
import { toTable, wrongOnes } from '../../../../chaos/figures.ts';
import { runRestateChaos } from './run.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '200' },
    steps: { type: 'string', default: '20' },
    kills: { type: 'string', default: '10' },
    'server-kills': { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
});

function readNumber(name: keyof typeof values): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0, not "${values[name]}".`);
}

const [sessions, steps, kills, seed] = [readNumber('sessions'), readNumber('steps'), readNumber('kills'), readNumber('seed')];
const serverKills = readNumber('server-kills');
const figures = await runRestateChaos({ sessions, steps, kills, serverKills, seed, onProgress: print });
print(`\n${toTable(`Restate: ${sessions} sessions × ${steps} steps, ${kills} + ${serverKills} kills, seed ${seed}`, figures)}`);
const wrong = wrongOnes(figures);
print(wrong.length === 0 ? '\nAll figures are right.' : `\n${wrong.length} figures are wrong.`);
process.exit(wrong.length === 0 ? 0 : 1);
