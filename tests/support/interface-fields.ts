import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../scripts/run.mjs';

function readMembers(file: string, name: string): readonly ts.TypeElement[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2023, true);
  const found = source.statements.filter(ts.isInterfaceDeclaration).find((node) => node.name.text === name);
  if (found === undefined) throw new Error(`There is no interface ${name} in ${file}.`);
  return found.members.filter((member) => ts.getJSDocDeprecatedTag(member) === undefined);
}

const getName = (member: ts.TypeElement): string => member.name?.getText() ?? '';

/** Reads the names of an interface's own properties from its file. Leaves out deprecated ones. */
export const readInterfaceFields = (file: string, name: string): readonly string[] => readMembers(file, name).map(getName);

/** Lists the properties of an interface whose comment is missing or has only tags: an editor shows no words for them. */
export const listUndescribedFields = (file: string, name: string): readonly string[] =>
  readMembers(file, name)
    .filter(
      (member) =>
        !ts.getJSDocCommentsAndTags(member).some(({ comment }) => comment !== undefined && ts.getTextOfJSDocComment(comment) !== ''),
    )
    .map(getName);
