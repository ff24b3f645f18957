// One worker with this build beside one with another, alternating: is a step as fast as it was? Reported, and gates nothing.
//   npm run bench:builds -- ../other-checkout     a checkout in which `npm run build` was run
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startServer } from '../tests/postgres/server.ts';
import { median } from './measure.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    sessions: { type: 'string', default: '200' },
    steps: { type: 'string', default: '10' },
    cpu: { type: 'string', default: '0' },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('Name the folder of another checkout: npm run bench:builds -- ../other-checkout');
const script = fileURLToPath(new URL('builds-process.ts', import.meta.url));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the steps per second, and the microseconds of CPU per step. */
function measure(build: string, store: string, place: string): readonly number[] {
  const orders = [build, store, place, values.sessions, values.steps, values.cpu];
  return execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...orders], { encoding: 'utf8' })
    .split(' ')
    .map(Number);
}

const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
const server = await startServer();
try {
  print(`${values.sessions} sessions of ${values.steps} steps, ${values.rounds} rounds; load ${loadavg()[0]?.toFixed(1) ?? '?'}`);
  for (const [store, place] of [
    ['sqlite', join(folder, 'sessions')],
    ['postgres', server.url],
  ] as const) {
    const before: (readonly number[])[] = [];
    const now: (readonly number[])[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      before.push(measure(resolve(other), store, place));
      now.push(measure(resolve('.'), store, place));
    }
    for (const [index, what] of ['steps/s', 'µs of CPU a step'].entries()) {
      const read = (all: typeof before): readonly number[] => all.map((figures) => figures[index] ?? Number.NaN);
      const ratio = median(read(now).map((figure, round) => figure / (read(before)[round] ?? Number.NaN)));
      print(
        `${store.padEnd(9)} ${what.padEnd(17)} before ${median(read(before)).toFixed(0)}, now ${median(read(now)).toFixed(0)}, ratio ${ratio.toFixed(2)}`,
      );
    }
  }
} finally {
  await server.dispose();
  rmSync(folder, { recursive: true });
}
