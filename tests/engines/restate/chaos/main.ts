// Kills processes in which Restate runs sessions, and checks that nothing is lost, repeated or stuck. Exits with 1 if anything is.
//   npm run chaos:restate                                 100 sessions × 20 steps, 60 kills of handlers, 6 of the server
//   npm run chaos:restate -- --sessions 20 --steps 10 --kills 5 --server-kills 1 --seed 7
import { parseArgs } from 'node:util';
import { toTable, wrongOnes } from '../../../../chaos/figures.ts';
import { runRestateChaos } from './run.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '100' },
    steps: { type: 'string', default: '20' },
    kills: { type: 'string', default: '60' },
    'server-kills': { type: 'string', default: '6' },
    seed: { type: 'string', default: '1' },
  },
});

function readNumber(name: keyof typeof values): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`--${name} must be a whole number, not "${values[name]}".`);
}

const [sessions, steps, kills] = [readNumber('sessions'), readNumber('steps'), readNumber('kills')];
const [serverKills, seed] = [readNumber('server-kills'), readNumber('seed')];
const figures = await runRestateChaos({ sessions, steps, kills, serverKills, seed, onProgress: print });
print(`\n${toTable(`Restate: ${sessions} sessions × ${steps} steps, ${kills} + ${serverKills} kills, seed ${seed}`, figures)}`);
const wrong = wrongOnes(figures);
print(wrong.length === 0 ? '\nAll figures are right.' : `\n${wrong.length} figures are wrong.`);
process.exitCode = wrong.length === 0 ? 0 : 1;
