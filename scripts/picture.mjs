// The picture in README.md: runs the first code block of the README, and draws what its run did.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawRun } from './draw-run.mjs';
import { root, run } from './run.mjs';
import { readSnippets } from './snippets.mjs';

/** File of the picture. */
export const picture = 'docs/run.svg';

// Reads what the picture shows of the `result` that the README's code makes.
const report = `
const { state } = result;
const steps = state.steps.map(({ executions }, index) => ({
  calls: executions.map(({ toolName, args, status, value, failure }) => ({ toolName, args, status, value, failure: failure?.message })),
  outcome: state.execution.results.at(index).outcome,
}));
console.log('\\0' + JSON.stringify({ input: state.messages.at(0).text, steps, headline: result.explain({ brief: true }) }));
`;

/** Draws the run of the README's first code block. `args` are options of Node, to find the package somewhere else.
 * @type {(args?: readonly string[]) => Promise<string>} */
export async function drawReadme(args = []) {
  const [first] = readSnippets('README.md', readFileSync(join(root, 'README.md'), 'utf8'));
  if (first === undefined) throw new Error('README.md has no ```ts block to draw.');
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(join(root, '.cache/picture.ts'), first.code + report);
  const { ok, output } = await run('node', [...args, '.cache/picture.ts'], { timeoutMs: 60_000 });
  if (!ok) throw new Error(`The run to draw failed:\n${output}`);
  return drawRun(JSON.parse(output.slice(output.indexOf('\0') + 1)));
}
