// npm run examples: runs every examples/*.ts, and the demo in each way that needs nobody at the keyboard. Fails when one of them does.
import { globSync } from 'node:fs';
import { run, root } from './run.mjs';

const demo = 'examples/partner-desk/main.ts';

const files = globSync('examples/*.ts', { cwd: root }).sort();
if (files.length === 0) {
  console.error('There is no example in examples/.');
  process.exitCode = 1;
}

/** The commands, and texts that their output has to contain.
 * @type {readonly { readonly args: readonly string[], readonly says?: readonly string[] }[]} */
const runs = [
  ...files.map((file) => ({ args: [file] })),
  { args: [demo, '--offline'], says: ['not a model', 'Completed in step 2: the model answered and called no tools.'] },
  { args: [demo, '--offline', '--once', 'Find Acme'], says: ['search_entities {"query":"Acme"}', 'Acme Robotics, Berlin'] },
  { args: [demo, '--offline', '--once', 'Delete lead 2'], says: ['Waiting in step 1 for approval', 'nothing was done'] },
  {
    args: [demo, '--tour'],
    says: [
      'third failure in a row (limit 3)',
      'was one extra step, to sum up.',
      'for more steps',
      'After the approval: ',
      'It ended by SIGKILL. Leads: 1, 2, 3, 4',
    ],
  },
  { args: [demo, '--help'], says: ['--once'] },
  { args: ['examples/functions/main.ts'], says: ['messages: in_progress, and more to do', 'All is paid.'] },
  { args: ['scripts/try-served-demo.mjs'], says: ['Acme Robotics, Berlin'] },
];

for (const { args, says = [] } of runs) {
  const { ok, output, seconds } = await run('node', args, { timeoutMs: 120_000 });
  const missing = says.filter((text) => !output.includes(text));
  const isGood = ok && missing.length === 0;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${args.join(' ')} ${seconds}`);
  if (!isGood) {
    console.error(output);
    for (const text of missing) console.error(`It does not say: ${text}`);
    process.exitCode = 1;
  }
}
