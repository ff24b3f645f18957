import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../scripts/run.mjs';

/** Reads the names of an interface's own properties from its file. Leaves out deprecated ones. */
export function readInterfaceFields(file: string, name: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2023, true);
  const found = source.statements.filter(ts.isInterfaceDeclaration).find((node) => node.name.text === name);
  if (found === undefined) throw new Error(`There is no interface ${name} in ${file}.`);
  return found.members.filter((member) => ts.getJSDocDeprecatedTag(member) === undefined).map((member) => member.name?.getText() ?? '');
}
