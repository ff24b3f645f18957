// The names that an entry point lists, read from its text: types leave no trace at run time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
