// Writes tables between the markers of a page, and leaves the rest of it alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const begin = '<!-- bench:peers -->';
const end = '<!-- /bench:peers -->';

/** Replaces what is between the markers. */
export function replaceBetweenMarkers(page: string, text: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The page has no ${begin} followed by ${end}.`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}

/** Formats Markdown as the repository does. */
export async function formatMarkdown(text: string, file: string): Promise<string> {
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

/** Writes a text between the markers of a file. */
export async function writeBetweenMarkers(file: string, text: string): Promise<void> {
  writeFileSync(file, await formatMarkdown(replaceBetweenMarkers(readFileSync(file, 'utf8'), text), file));
}
