// npm run verify: every check in order, a line with its time for each, stopping at the first that fails.
// --skip-tests leaves the tests out, for when they have just been run.
import { run } from './run.mjs';

const steps = [
  'format:check',
  'lint',
  'types',
  'boundaries',
  'test',
  'build',
  'publint',
  'attw',
  'knip',
  'size',
  'pin-exports -- --check',
  'snippets',
  'examples',
];
const wanted = process.argv.includes('--skip-tests') ? steps.filter((step) => step !== 'test') : steps;

for (const step of wanted) {
  const { ok, output, seconds } = await run('npm', ['run', '--silent', ...step.split(' ')]);
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${step} ${seconds}`);
  if (!ok) {
    console.error(output);
    process.exitCode = 1;
    break;
  }
}
