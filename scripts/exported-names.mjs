// The names that an entry point lists, read from its text: types leave no trace at run time.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from './run.mjs';

/** @typedef {{ readonly values: readonly string[], readonly types: readonly string[] }} ExportedNames */

/** The file in which the names of each entry point are pinned. */
export const pinsFile = join(root, 'tests/exports.json');

/** Reads a .ts or .d.ts file that lists names one by one. Throws if it holds anything else.
 * @type {(file: string) => ExportedNames} */
export function readExportedNames(file) {
  /** @type {string[]} */
  const values = [];
  /** @type {string[]} */
  const types = [];
  for (const statement of ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023).statements) {
    const isList = ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined;
    if (!isList || statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause))
      throw new Error(`${file} holds more than lists of names. Use only export { … } from '…' and export type { … } from '…'.`);
    for (const { name, isTypeOnly } of statement.exportClause.elements)
      (statement.isTypeOnly || isTypeOnly ? types : values).push(name.text);
  }
  return { values: values.sort(), types: types.sort() };
}

/** @type {Map<string, ReadonlyMap<string, string>>} */
const readBefore = new Map();

/** Finds the declaration of each name that a file passes on, as file#name. Follows lists of names only.
 * @type {(file: string) => ReadonlyMap<string, string>} */
export function readDeclarations(file) {
  const known = readBefore.get(file);
  if (known !== undefined) return known;
  /** @type {Map<string, string>} */
  const declarations = new Map();
  readBefore.set(file, declarations);
  const text = readFileSync(file, 'utf8');
  // Most files pass nothing on; parsing them all takes long.
  if (!/^export (type )?\{/m.test(text)) return declarations;
  for (const statement of ts.createSourceFile(file, text, ts.ScriptTarget.ES2023).statements) {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) continue;
    if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause)) continue;
    // Holds because a module specifier is always a string literal.
    const source = join(dirname(file), /** @type {ts.StringLiteral} */ (statement.moduleSpecifier).text);
    const below = readDeclarations(source);
    for (const { name, propertyName } of statement.exportClause.elements) {
      const original = (propertyName ?? name).text;
      declarations.set(name.text, below.get(original) ?? `${source}#${original}`);
    }
  }
  return declarations;
}
