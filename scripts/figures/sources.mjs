// The source files that figures are taken from: src/ and page/ without tests, parsed once.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../run.mjs';

/** @typedef {{ readonly path: string, readonly text: string, readonly tree: ts.SourceFile }} Source */

/** Lists files that git knows or would add, relative to the repository's folder.
 * @type {(...folders: readonly string[]) => readonly string[]} */
export const listFiles = (...folders) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', ...folders], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '');

/** @type {(path: string) => string | undefined} */
export function readText(path) {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    // Deleted, and not yet committed.
    return undefined;
  }
}

/** @type {() => readonly Source[]} */
export const readSources = () =>
  listFiles('src', 'page')
    .filter((path) => /\.tsx?$/.test(path) && !/\.test(-d)?\.tsx?$/.test(path))
    .flatMap((path) => {
      const text = readText(path);
      return text === undefined ? [] : [{ path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) }];
    });

/** Counts the lines with code: neither blank nor only a comment.
 * @type {(source: Source) => number} */
export function countCodeLines({ tree }) {
  /** @type {Set<number>} */
  const lines = new Set();
  const lineAt = (/** @type {number} */ position) => tree.getLineAndCharacterOfPosition(position).line;
  const visit = (/** @type {ts.Node} */ node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(tree);
    for (const child of children) visit(child);
    if (children.length > 0 || node.getWidth(tree) === 0) return;
    for (let line = lineAt(node.getStart(tree)); line <= lineAt(node.end); line += 1) lines.add(line);
  };
  visit(tree);
  return lines.size;
}
