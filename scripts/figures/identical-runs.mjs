// Runs of more than twelve identical lines in two places. Blank lines, comments and lists of imports or exports do not count, nor does indentation.
import ts from 'typescript';

/** @typedef {import('./sources.mjs').Source} Source */
/** @typedef {{ readonly path: string, readonly lines: readonly { readonly text: string, readonly number: number }[] }} Listing */

const size = 13;

/** @type {(source: Source) => Listing} */
function toListing({ path, text, tree }) {
  /** @type {Set<number>} */
  const skipped = new Set();
  for (const statement of tree.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const [from, to] = [statement.getStart(tree), statement.end].map((position) => tree.getLineAndCharacterOfPosition(position).line);
    for (let line = from ?? 0; line <= (to ?? 0); line += 1) skipped.add(line);
  }
  const lines = text
    .split('\n')
    .map((line, index) => ({ text: line.trim(), number: index + 1 }))
    .filter(({ text: line, number }) => line !== '' && !/^(\/\/|\/\*|\*)/.test(line) && !skipped.has(number - 1));
  return { path, lines };
}

/** Finds the places whose lines stand elsewhere too. Each run is counted once for each place after its first.
 * @type {(sources: readonly Source[]) => readonly string[]} */
export function findIdenticalRuns(sources) {
  /** @type {Map<string, { readonly path: string, readonly index: number, readonly number: number }>} */
  const firsts = new Map();
  /** @type {string[]} */
  const found = [];
  for (const { path, lines } of sources.map(toListing)) {
    let coveredUntil = -1;
    for (let index = 0; index + size <= lines.length; index += 1) {
      const window = lines.slice(index, index + size);
      const key = window.map(({ text }) => text).join('\n');
      const number = window[0]?.number ?? 0;
      const first = firsts.get(key);
      if (first === undefined) firsts.set(key, { path, index, number });
      else if (first.path !== path || first.index + size <= index) {
        if (index > coveredUntil) found.push(`${path}:${number} as ${first.path}:${first.number}`);
        coveredUntil = index + size - 1;
      }
    }
  }
  return found;
}
