// Copies the pages of the repository into the folder that VitePress reads, each under its address on the site.
// Owns:     which file becomes which page, and the links between them.
// Does not: change a word of a page; write the API reference (api-pages.mjs).
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { mapProse, pageGroups, readPage } from '../scripts/pages.mjs';
import { root } from '../scripts/run.mjs';

/** Programs in examples/ that are listed. */
export const examples = globSync('examples/*.ts', { cwd: root }).sort();

/** Readmes of the folders in examples/. A link to the folder leads to them. */
const folderReadmes = globSync('examples/*/README.md', { cwd: root }).sort();

/** Other files in examples/ that pages link to. They have a page too. */
const linkedSources = [
  ...new Set(
    [...pageGroups.flatMap(({ pages }) => pages), ...folderReadmes].flatMap((file) =>
      [...readPage(file).text.matchAll(/\]\(([^)#\s]+\.(?:ts|php))\)/g)].map(([, link = '']) => posix.join(posix.dirname(file), link)),
    ),
  ),
].filter((file) => /^examples\/.+\//.test(file));

/** Files that are offered as they are. */
const assets = ['envelope.schema.json', 'LICENSE'];

/** Returns the address of a file of the repository on the site, or undefined if it has none.
 * @type {(file: string) => string | undefined} */
export function toSitePath(file) {
  if (file === 'README.md') return 'index.md';
  if (file === 'examples' || file === 'examples/') return 'examples/index.md';
  if (examples.includes(file) || linkedSources.includes(file)) return file.replace(/\.(?:ts|php)$/, '.md');
  if (folderReadmes.includes(file)) return file.replace('README', 'index');
  if (folderReadmes.includes(`${file}/README.md`)) return `${file}/index.md`;
  if (assets.includes(file)) return file;
  if (/^[A-Z]+\.md$/.test(file)) return file.toLowerCase();
  return /^docs\/(.+\.(?:md|svg))$/.exec(file)?.[1];
}

/** Rewrites the links of a page. Throws if one leads to a file that the site does not have.
 * @type {(file: string, text: string) => string} */
function rewriteLinks(file, text) {
  const toLink = (/** @type {string} */ link) => {
    if (/^([a-z]+:|#)/.test(link)) return link;
    const [path = '', anchor] = link.split('#');
    const target = toSitePath(posix.join(posix.dirname(file), path));
    if (target === undefined) throw new Error(`${file} links to ${link}, which is not on the site. Add it to site/pages.mjs.`);
    return `/${target}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  return mapProse(text, (prose) => prose.replaceAll(/\]\(([^)\s]+)\)/g, (_all, link) => `](${toLink(link)})`));
}

/** Reads the comment at the top of an example.
 * @type {(code: string) => string} */
const readOpening = (code) => (/^(?:\/\/ .*\n)+/.exec(code)?.[0] ?? '').replaceAll(/^\/\/ /gm, '').trim();

/** @type {(file: string) => string} */
const toName = (file) => posix.basename(file, '.ts');

/** @type {(file: string) => string} */
const toLanguage = (file) => posix.extname(file).slice(1);

/** Writes a page for each example, and one that lists them.
 * @type {(put: (path: string, text: string) => void) => void} */
function writeExamples(put) {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
  const list = examples.map((file) => `- [${toName(file)}](/${String(toSitePath(file))}): ${readOpening(read(file))}`);
  put('examples/index.md', `# Examples\n\nPrograms that run without a key: \`node examples/01-agent.ts\`.\n\n${list.join('\n')}\n`);
  for (const file of [...examples, ...linkedSources]) {
    const code = read(file);
    put(String(toSitePath(file)), `# ${toName(file)}\n\n${readOpening(code)}\n\n\`\`\`${toLanguage(file)}\n${code}\`\`\`\n`);
  }
  for (const file of folderReadmes) put(String(toSitePath(file)), rewriteLinks(file, readPage(file).text));
}

/** Writes all pages into a folder.
 * @type {(folder: string) => void} */
export function writePages(folder) {
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const file of pageGroups.flatMap(({ pages }) => pages)) put(String(toSitePath(file)), rewriteLinks(file, readPage(file).text));
  writeExamples(put);
  for (const file of globSync('docs/**/*.svg', { cwd: root })) cpSync(join(root, file), join(folder, String(toSitePath(file))));
  for (const file of assets) cpSync(join(root, file), join(folder, 'public', file));
}
