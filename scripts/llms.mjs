// llms.txt: the pages of the documentation for programs that read, with a sentence about each. Form: a title, a quote, lists of links.
// npm run llms writes it; a test compares it with the pages.
import { writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mapProse, pageGroups, readPage } from './pages.mjs';
import { root } from './run.mjs';

const opening = `# Stepline

> A TypeScript runtime for agents that can always tell you why: why a run continued, why it stopped, which rule decided, and with which numbers.

Links are files of the package: after \`npm install stepline\` they are in \`node_modules/stepline/\`. Rules for writing code with Stepline are in skills/stepline/SKILL.md.
`;

/** Returns the text of llms.txt.
 * @type {() => string} */
export function toLlmsIndex() {
  const groups = pageGroups.map(({ title, pages }) => {
    const lines = pages
      .map(readPage)
      .map(({ file, title: name, summary }) => `- [${name}](${file})${summary === '' ? '' : `: ${summary}`}`);
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return [opening, ...groups].join('\n');
}

/** Returns the text of llms-full.txt: every page after the other, with links that lead to the files of the package.
 * @type {() => string} */
export function toLlmsFull() {
  const pages = pageGroups.flatMap((group) => group.pages).map(readPage);
  const texts = pages.map(({ file, text }) => {
    const toFile = (/** @type {string} */ link) => (/^([a-z]+:|#)/.test(link) ? link : posix.join(posix.dirname(file), link));
    return `<!-- ${file} -->\n\n${mapProse(text, (prose) => prose.replaceAll(/\]\(([^)\s]+)\)/g, (_all, link) => `](${toFile(link)})`))}`;
  });
  return [opening, ...texts].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(join(root, 'llms.txt'), toLlmsIndex());
