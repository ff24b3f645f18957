// npm run examples: runs every examples/*.ts and fails when one of them does.
import { globSync } from 'node:fs';
import { run, root } from './run.mjs';

const files = globSync('examples/*.ts', { cwd: root }).sort();
for (const file of files) {
  const { ok, output, seconds } = await run('node', [file], { timeoutMs: 120_000 });
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${file} ${seconds}`);
  if (!ok) {
    console.error(output);
    process.exitCode = 1;
  }
}
if (files.length === 0) {
  console.error('There is no example in examples/.');
  process.exitCode = 1;
}
