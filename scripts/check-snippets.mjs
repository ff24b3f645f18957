// npm run snippets: compiles every ```ts block of README.md and docs/ against the built package, then runs it.
// A fence that says ```ts no-run is only compiled. Each block stands alone: it imports what it uses.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const folder = '.cache/snippets';

/** @typedef {{ readonly page: string, readonly line: number, readonly runs: boolean, readonly code: string }} Snippet */

/** @type {(page: string) => Snippet[]} */
function readSnippets(page) {
  const text = existsSync(join(root, page)) ? readFileSync(join(root, page), 'utf8') : '';
  return [...text.matchAll(/^```ts\b([^\n]*)\n(.*?)^```$/gms)].map(({ index, 1: words = '', 2: code = '' }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    runs: !words.split(/\s+/).includes('no-run'),
    code,
  }));
}

const toFile = (/** @type {Snippet} */ { page, line }) => `${folder}/${page.replaceAll(/[^\w]+/g, '-')}-${String(line)}.ts`;

/** @type {(snippets: readonly Snippet[]) => void} */
function write(snippets) {
  rmSync(join(root, folder), { recursive: true, force: true });
  mkdirSync(join(root, folder), { recursive: true });
  // The empty lines make the compiler's line numbers those of the page.
  for (const snippet of snippets) writeFileSync(join(root, toFile(snippet)), '\n'.repeat(snippet.line) + snippet.code);
  const config = { extends: '../../tsconfig.json', compilerOptions: { paths: {} }, include: ['*.ts'], exclude: [] };
  writeFileSync(join(root, folder, 'tsconfig.json'), JSON.stringify(config));
}

/** @type {(title: string, output: string) => void} */
function fail(title, output) {
  console.error(`${title}\n${output}`);
  process.exitCode = 1;
}

const snippets = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()].flatMap(readSnippets);
write(snippets);
if (!snippets.some(({ page }) => page === 'README.md')) fail('README.md has no ```ts block.', '');

if (snippets.length > 0) {
  const compiled = await run('tsc', ['-p', folder]);
  if (!compiled.ok) fail('Snippets do not compile (the line numbers are those of the page):', compiled.output);
}

const runnable = process.exitCode === 1 ? [] : snippets.filter(({ runs }) => runs);
for (const snippet of runnable) {
  const { ok, output } = await run('node', [toFile(snippet)], { timeoutMs: 60_000 });
  if (!ok) fail(`${snippet.page}:${String(snippet.line)} fails when run:`, output);
}
console.log(`${String(snippets.length)} snippets compiled, ${String(runnable.length)} run`);
