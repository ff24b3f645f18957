// The API reference: a page for each entry point with every name it exports, written from the built declarations.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints } from '../scripts/entry-points.mjs';
import { toAnchor } from '../scripts/pages.mjs';
import { root } from '../scripts/run.mjs';
import { readApi } from './read-api.mjs';

/** @typedef {import('./read-api.mjs').ApiName} ApiName */

/** Kinds of names with their headings: what you call, then what you write down. */
const values = /** @type {const} */ ([
  ['function', 'Functions'],
  ['class', 'Classes'],
  ['constant', 'Constants'],
]);
const types = /** @type {const} */ ([
  ['interface', 'Interfaces'],
  ['type', 'Types'],
]);

/** Entry points with more names than this have their types on a page of their own. */
const longPage = 100;

/** Returns the page of an entry point.
 * @type {(entryPoint: string) => string} */
export const toApiPath = (entryPoint) => `api/${entryPoint === '.' ? 'stepline' : entryPoint.slice('./'.length)}.md`;

/** @type {(entryPoint: string) => string} */
const toTypesPath = (entryPoint) => toApiPath(entryPoint).replace(/\.md$/, '-types.md');

/** @type {(entryPoint: string) => string} */
const toImportName = (entryPoint) => entryPoint.replace(/^\./, 'stepline');

/** Reads the sentence about each entry point from docs/agents.md.
 * @type {() => ReadonlyMap<string, string>} */
export function readEntryPointSummaries() {
  const rows = readFileSync(join(root, 'docs/agents.md'), 'utf8').matchAll(/^\| `(stepline[\w/-]*)` +\| (.+?) *\|$/gm);
  return new Map([...rows].map(([, name = '', summary = '']) => [name, summary]));
}

/** Finds the page of every name: that of the first entry point which exports it.
 * @type {(apis: ReadonlyMap<string, readonly ApiName[]>) => ReadonlyMap<string, string>} */
function toHomes(apis) {
  /** @type {Map<string, string>} */
  const homes = new Map();
  for (const [entryPoint, names] of apis)
    for (const { name, kind } of names) {
      const isApart = names.length > longPage && types.some(([each]) => each === kind);
      if (!homes.has(name)) homes.set(name, isApart ? toTypesPath(entryPoint) : toApiPath(entryPoint));
    }
  return homes;
}

/** Keeps the text of a comment from being read as HTML or as a template.
 * @type {(text: string) => string} */
const escapeProse = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')))
    .join('');

/** @type {(name: string, homes: ReadonlyMap<string, string>) => string} */
const toLink = (name, homes) => `[${name}](/${homes.get(name) ?? 'api/index.md'}#${toAnchor(name)})`;

/** @type {(entry: ApiName, homes: ReadonlyMap<string, string>) => string} */
function toSection({ name, doc, deprecated, code, uses, inherits }, homes) {
  const toLinks = (/** @type {readonly string[]} */ names) => names.map((each) => toLink(each, homes)).join(', ');
  return [
    `### ${name}`,
    ...(deprecated === undefined ? [] : [`**Deprecated.** ${escapeProse(deprecated)}`]),
    ...(doc === '' ? [] : [escapeProse(doc)]),
    `\`\`\`ts\n${code}\n\`\`\``,
    ...(inherits.length > 0 ? [`It has the members of ${toLinks(inherits)} too.`] : []),
    ...(uses.length > 0 ? [`Names in it: ${toLinks(uses)}.`] : []),
  ].join('\n\n');
}

/** Writes the sections of the names on one page, by kind.
 * @type {(names: readonly ApiName[], homes: ReadonlyMap<string, string>) => readonly string[]} */
const toSections = (names, homes) =>
  [...values, ...types].flatMap(([kind, title]) => {
    const ofKind = names.filter((entry) => entry.kind === kind);
    return ofKind.length === 0 ? [] : [`## ${title}`, ...ofKind.map((entry) => toSection(entry, homes))];
  });

/** Writes the pages of an entry point: one, or two if its types are apart.
 * @type {(entryPoint: string, names: readonly ApiName[], homes: ReadonlyMap<string, string>) => ReadonlyMap<string, string>} */
function toPages(entryPoint, names, homes) {
  const [path, typesPath, importName] = [toApiPath(entryPoint), toTypesPath(entryPoint), toImportName(entryPoint)];
  const on = (/** @type {string} */ page) => names.filter(({ name }) => homes.get(name) === page);
  const others = names.filter(({ name }) => homes.get(name) !== path && homes.get(name) !== typesPath);
  const summary = readEntryPointSummaries().get(importName) ?? '';
  const page = [
    `# ${importName}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(on(typesPath).length > 0 ? [`Interfaces and types are on [a page of their own](/${typesPath}).`] : []),
    ...toSections(on(path), homes),
    ...(others.length > 0 ? ['## Names of other entry points', `${others.map(({ name }) => toLink(name, homes)).join(', ')}.`] : []),
  ];
  const typesPage = [
    `# Types of ${importName}`,
    `What [${importName}](/${path}) exports for the compiler only.`,
    ...toSections(on(typesPath), homes),
  ];
  const toText = (/** @type {readonly string[]} */ parts) => `${parts.join('\n\n')}\n`;
  return new Map([[path, toText(page)], ...(on(typesPath).length > 0 ? [/** @type {const} */ ([typesPath, toText(typesPage)])] : [])]);
}

/** @type {(apis: ReadonlyMap<string, readonly ApiName[]>) => string} */
function toIndex(apis) {
  const summaries = readEntryPointSummaries();
  const rows = [...apis].map(([entryPoint, names]) => {
    const link = `[\`${toImportName(entryPoint)}\`](/${toApiPath(entryPoint)})`;
    return `| ${link} | ${summaries.get(toImportName(entryPoint)) ?? ''} | ${String(names.length)} |`;
  });
  const opening =
    'Every name that the package exports, by entry point. The pages are written from the declarations that the package ships.';
  return `# API reference\n\n${opening}\n\n| entry point | has | names |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** Writes the pages into a folder, and returns how many names they describe.
 * @type {(folder: string) => Promise<number>} */
export async function writeApiPages(folder) {
  const apis = await readApi(entryPoints);
  const homes = toHomes(apis);
  mkdirSync(join(folder, 'api'), { recursive: true });
  writeFileSync(join(folder, 'api/index.md'), toIndex(apis));
  for (const [entryPoint, names] of apis)
    for (const [path, text] of toPages(entryPoint, names, homes)) writeFileSync(join(folder, path), text);
  return homes.size;
}
