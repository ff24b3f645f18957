// npm run verify: every check, a line with its time for each, stopping at the first that fails.
// --skip-tests leaves the tests out, for when they have just been run.
import { run } from './run.mjs';

// The linter takes as long as most others together and uses one processor, so it runs beside them.
const lanes = [
  ['lint'],
  [
    'format:check',
    'types',
    'boundaries',
    'figures',
    'test',
    'build',
    'publint',
    'attw',
    'knip',
    'size',
    'pin-exports -- --check',
    'snippets',
    'examples',
  ],
];
const isWanted = (/** @type {string} */ step) => step !== 'test' || !process.argv.includes('--skip-tests');

/** Runs the steps of a lane one after the other, until one of any lane fails.
 * @type {(steps: readonly string[]) => Promise<void>} */
async function runLane(steps) {
  for (const step of steps.filter(isWanted)) {
    const { ok, output, seconds } = await run('npm', ['run', '--silent', ...step.split(' ')]);
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${step} ${seconds}`);
    if (!ok) {
      console.error(output);
      process.exitCode = 1;
    }
    if (process.exitCode === 1) return;
  }
}

await Promise.all(lanes.map(runLane));
