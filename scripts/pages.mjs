// The pages of the documentation in reading order: for the sidebar of the site, llms.txt, and the test that no page is forgotten.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** @typedef {{ readonly title: string, readonly pages: readonly string[] }} PageGroup Pages under one heading, as paths in the repository. */
/** @typedef {{ readonly file: string, readonly title: string, readonly summary: string, readonly text: string }} Page */

const toPages = (/** @type {readonly string[]} */ names, folder = 'docs') => names.map((name) => `${folder}/${name}.md`);

/** All pages, grouped.
 * @type {readonly PageGroup[]} */
export const pageGroups = [
  { title: 'Start', pages: ['README.md', ...toPages(['getting-started', 'concepts', 'comparison', 'limits-of-stepline'])] },
  { title: 'Agents', pages: toPages(['agents', 'tools', 'limits', 'retries', 'events', 'hooks', 'capabilities', 'chat', 'testing']) },
  {
    title: 'Sessions',
    pages: toPages([
      'sessions',
      'storage',
      'cli',
      'http',
      'page',
      'ui',
      'use-chat',
      'ag-ui',
      'pusher',
      'feed',
      'broadcasting',
      'deploy',
      'durable',
      'restate',
    ]),
  },
  {
    title: 'Recipes',
    pages: toPages(
      [
        ...['approvals', 'approvals-from-slack', 'budgets', 'overnight', 'live-page', 'nextjs', 'hono', 'express'],
        ...['several-processes', 'providers', 'testing', 'upgrading', 'operating'],
      ],
      'docs/recipes',
    ),
  },
  {
    title: 'Coming from',
    pages: [...toPages(['ai-sdk', 'openai-agents', 'langgraph', 'mastra', 'history'], 'docs/coming-from'), 'docs/migration.md'],
  },
  { title: 'Help', pages: toPages(['troubleshooting', 'errors', 'performance']) },
  { title: 'Project', pages: ['CHANGELOG.md', 'docs/versioning.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'] },
];

/** Drops the marks of Markdown from a line of text.
 * @type {(text: string) => string} */
const toPlainText = (text) => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\*\*|`/g, '');

/** Returns the first sentences of a page, as many as make about a line. Code, headings, lists and tables are passed over.
 * @type {(text: string) => string} */
function readSummary(text) {
  const prose = text.replaceAll(/^```.*?^```$/gms, '').split('\n');
  const [first = ''] = prose.filter((line) => /^[\p{L}`*[]/u.test(line)).map(toPlainText);
  const sentences = first.split(/(?<=[.?!]) /);
  const enough = sentences.findIndex((_sentence, index) => sentences.slice(0, index + 1).join(' ').length >= 50);
  return sentences.slice(0, enough === -1 ? undefined : enough + 1).join(' ');
}

/** Reads a page: its title, its first sentence and its text.
 * @type {(file: string) => Page} */
export function readPage(file) {
  const text = readFileSync(join(root, file), 'utf8');
  return { file, title: toPlainText(/^# (.+)$/m.exec(text)?.[1] ?? file), summary: readSummary(text), text };
}

/** Returns the anchor that GitHub gives a heading, and the site too.
 * @type {(heading: string) => string} */
export const toAnchor = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** Applies a function to the text of a page outside its code blocks.
 * @type {(text: string, change: (prose: string) => string) => string} */
export const mapProse = (text, change) =>
  text
    .split(/(^```.*?^```$)/gms)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
