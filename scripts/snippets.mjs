// Code blocks of README.md and docs/: reads them, and compares what they print with the page.
// A ```ts block is compiled and run; ```ts no-run is only compiled; ```ts peer needs the libraries of site/peers. A ```text output block shows what the ts block before it prints.

/** @typedef {{ readonly text: string, readonly from: number, readonly to: number }} Output Text on the page, and its place. */
/** @typedef {{ readonly page: string, readonly line: number, readonly runs: boolean, readonly peer: boolean, readonly code: string, readonly output?: Output }} Snippet */

const fence = /^```(\w+)([^\n]*)\n(.*?)^```$/gms;

/** Reads the ts blocks of a page, each with the output that follows it. Throws if an output has no block that runs.
 * @type {(page: string, text: string) => readonly Snippet[]} */
export function readSnippets(page, text) {
  /** @type {Snippet[]} */
  const snippets = [];
  for (const { index, 0: all, 1: language = '', 2: words = '', 3: body = '' } of text.matchAll(fence)) {
    const line = text.slice(0, index).split('\n').length;
    const flags = words.split(/\s+/);
    if (language === 'ts') snippets.push({ page, line, runs: !flags.includes('no-run'), peer: flags.includes('peer'), code: body });
    if (language !== 'text' || !flags.includes('output')) continue;
    const last = snippets.pop();
    if (last?.runs !== true || last.output !== undefined)
      throw new Error(`${page}:${String(line)}: an output must follow a ts block that runs. Add the block, or write a plain text fence.`);
    const to = index + all.length - '```'.length;
    snippets.push({ ...last, output: { text: body, from: to - body.length, to } });
  }
  return snippets;
}

/** Removes spaces at the ends of lines, and empty lines at both ends: an editor would remove them from the page.
 * @type {(text: string) => string} */
export const trimOutput = (text) => `${text.replaceAll(/[ \t]+$/gm, '').replaceAll(/^\n+|\n+$/g, '')}\n`;

/** Puts the real output of snippets in place of what the page says. The last one first, so that the places before it stay.
 * @type {(text: string, printed: readonly { readonly output: Output, readonly real: string }[]) => string} */
export const replaceOutputs = (text, printed) =>
  [...printed]
    .sort((one, other) => other.output.from - one.output.from)
    .reduce((page, { output: { from, to }, real }) => page.slice(0, from) + real + page.slice(to), text);
