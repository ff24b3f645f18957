// The sidebar: the groups of scripts/pages.mjs, then the examples and the API reference.
import { posix } from 'node:path';
import { pageGroups, readPage } from '../scripts/pages.mjs';
import { entryPoints } from '../scripts/entry-points.mjs';
import { toApiPath } from './api-pages.mjs';
import { examples, toSitePath } from './pages.mjs';

/** @typedef {{ readonly text: string, readonly link: string }} SidebarItem */
/** @typedef {{ readonly text: string, readonly items: readonly SidebarItem[], readonly collapsed?: boolean }} SidebarGroup */

/** Titles that are too long for the sidebar, or say too little in it. */
const shortTitles = new Map([
  ['README.md', 'Overview'],
  ['docs/cli.md', 'Command line'],
  ['docs/migration.md', 'InstructorPHP'],
  ['docs/http.md', 'HTTP'],
]);

/** @type {(path: string) => string} */
const toLink = (path) => `/${path.replace(/(?:index)?\.md$/, '')}`;

/** @type {(file: string) => SidebarItem} */
const toItem = (file) => ({ text: shortTitles.get(file) ?? readPage(file).title, link: toLink(String(toSitePath(file))) });

/** Returns the groups of the sidebar.
 * @type {() => readonly SidebarGroup[]} */
export function toSidebar() {
  const groups = pageGroups.map(({ title, pages }) => ({ text: title, items: pages.map(toItem) }));
  const listed = examples.map((file) => ({ text: posix.basename(file, '.ts'), link: toLink(String(toSitePath(file))) }));
  const api = entryPoints.map(({ name }) => ({ text: name.replace(/^\./, 'stepline'), link: toLink(toApiPath(name)) }));
  return [
    ...groups.slice(0, -1),
    { text: 'API reference', items: [{ text: 'All entry points', link: '/api/' }, ...api], collapsed: true },
    { text: 'Examples', items: [{ text: 'All examples', link: '/examples/' }, ...listed], collapsed: true },
    ...groups.slice(-1),
  ];
}
