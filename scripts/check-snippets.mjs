// npm run snippets: compiles every ts block of README.md, docs/ and the skill against the built package, runs it, and compares what it prints with
// the output that the page shows. Then it compares the pictures of the pages with their runs.
// The blocks of a page run in order, in an empty folder of their own: one may read a file that an earlier one wrote.
// --update writes the real outputs and the pictures instead. Names of pages check only those: npm run snippets -- docs/concepts.md
// --peers does so with the blocks that need other libraries, which site/peers has: npm run docs:peers.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawPicture, pictures } from './picture.mjs';
import { root, run } from './run.mjs';
import { readSnippets, replaceOutputs, trimOutput } from './snippets.mjs';

/** @typedef {import('./snippets.mjs').Snippet} Snippet */

const isPeers = process.argv.includes('--peers');
const peersFolder = 'site/peers';
const folder = isPeers ? `${peersFolder}/.cache/snippets` : '.cache/snippets';
const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
const toFolder = (/** @type {string} */ page) => `${folder}/${page.replaceAll(/[^\w]+/g, '-')}`;

/** Returns the file of a block. One that begins with the comment `// desk.ts` is that file, so that later blocks can import it.
 * @type {(snippet: Snippet) => string} */
const toFile = ({ page, line, code }) => `${toFolder(page)}/${/^\/\/ ([\w-]+\.ts)\b/.exec(code)?.[1] ?? `line-${String(line)}.ts`}`;

/** Gives the blocks the built package under its name, and the scripted models of the other libraries.
 * @type {(snippets: readonly Snippet[]) => void} */
function addPeers(snippets) {
  const link = join(root, peersFolder, 'node_modules/stepline');
  if (!existsSync(link)) symlinkSync(root, link, 'junction');
  for (const { page } of snippets) cpSync(join(root, peersFolder, 'scripted'), join(root, toFolder(page), 'scripted'), { recursive: true });
}

/** @type {(snippets: readonly Snippet[]) => void} */
function write(snippets) {
  rmSync(join(root, folder), { recursive: true, force: true });
  for (const { page } of snippets) mkdirSync(join(root, toFolder(page)), { recursive: true });
  // The empty lines make the compiler's line numbers those of the page.
  for (const snippet of snippets) writeFileSync(join(root, toFile(snippet)), '\n'.repeat(snippet.line) + snippet.code);
  if (isPeers) addPeers(snippets);
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions: { paths: {} }, include: ['**/*.ts'], exclude: [] };
  writeFileSync(join(root, folder, 'tsconfig.json'), JSON.stringify(config));
}

/** @type {(title: string, output?: string) => void} */
function fail(title, output = '') {
  console.error(`${title}\n${output}`);
  process.exitCode = 1;
}

const isUpdate = process.argv.includes('--update');
const named = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const pages = named.length > 0 ? named : ['README.md', 'skills/stepline/SKILL.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];
const snippets = pages.flatMap((page) => readSnippets(page, read(page))).filter(({ peer }) => peer === isPeers);
write(snippets);
if (snippets.length === 0) fail(`There is no \`\`\`ts block in ${pages.join(', ')}.`);

const compiled = snippets.length === 0 ? { ok: true, output: '' } : await run('tsc', ['-p', folder]);
if (!compiled.ok) fail('Snippets do not compile (the line numbers are those of the page):', compiled.output);

const runnable = process.exitCode === 1 ? [] : snippets.filter(({ runs }) => runs);
/** @type {{ readonly page: string, readonly output: import('./snippets.mjs').Output, readonly real: string }[]} */
const changed = [];
for (const snippet of runnable) {
  const file = join(root, toFile(snippet));
  const { ok, output } = await run('node', ['--disable-warning=ExperimentalWarning', file], {
    timeoutMs: 60_000,
    cwd: join(root, toFolder(snippet.page)),
  });
  const place = `${snippet.page}:${String(snippet.line)}`;
  if (!ok) fail(`${place} fails when run:`, output);
  else if (snippet.output !== undefined && trimOutput(output) !== snippet.output.text) {
    changed.push({ page: snippet.page, output: snippet.output, real: trimOutput(output) });
    if (!isUpdate) fail(`${place} prints something else than the page says. \`npm run snippets -- --update\` writes it:`, output);
  }
}
if (isUpdate)
  for (const page of new Set(changed.map((each) => each.page)))
    writeFileSync(
      join(root, page),
      replaceOutputs(
        read(page),
        changed.filter((each) => each.page === page),
      ),
    );

for (const picture of process.exitCode === 1 || isPeers ? [] : pictures.filter(({ page }) => pages.includes(page))) {
  const { file, page } = picture;
  const drawn = await drawPicture(picture);
  if (isUpdate) writeFileSync(join(root, file), drawn);
  else if (!existsSync(join(root, file)) || drawn !== read(file))
    fail(`${file} does not show the run of its code on ${page}. \`npm run snippets -- --update\` draws it again.`);
}
console.log(`${String(snippets.length)} snippets compiled, ${String(runnable.length)} run`);
