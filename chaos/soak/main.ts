// Has conversations at a steady rate for an hour and shows that the process does not grow. Exits with 1 if it does, or if a conversation fails.
//   npm run chaos:soak                               60 minutes, 40 sessions a second
//   npm run chaos:soak -- --minutes 10 --rate 20
import { parseArgs } from 'node:util';
import { toTable, wrongOnes } from '../figures.ts';
import { withFolder } from '../with-folder.ts';
import type { Sample } from './run-soak.ts';
import { runSoak } from './run-soak.ts';
import { judgeSamples } from './judge-samples.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' }, rate: { type: 'string', default: '40' } } });

function readNumber(name: 'minutes' | 'rate'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0, not "${values[name]}".`);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const toMb = (bytes: number): string => (bytes / 2 ** 20).toFixed(1).padStart(7);

function printSample({ seconds, sessions, ended, rss, heapUsed, external, problems }: Sample): void {
  const columns = [seconds.toFixed(0).padStart(6), String(sessions).padStart(9), String(ended).padStart(8)];
  print([...columns, toMb(rss), toMb(heapUsed), toMb(external), String(problems).padStart(9)].join('  '));
}

const [minutes, rate] = [readNumber('minutes'), readNumber('rate')];
if (minutes < 4) throw new Error(`--minutes must be 4 or more, not ${minutes}: quarters of the run are compared.`);
print('     s   sessions  /minute   rss MB  heap MB   ext MB  problems');
const figures = await withFolder(async (folder) =>
  judgeSamples(await runSoak({ folder, minutes, rate, sampleEveryMs: 60_000, onSample: printSample }), rate),
);
print(`\n${toTable(`${minutes} minutes, ${rate} sessions a second`, figures)}`);
process.exitCode = wrongOnes(figures).length === 0 ? 0 : 1;
