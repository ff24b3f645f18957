import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from '../scripts/run.mjs';

interface FoundClass {
  readonly name: string;
  readonly file: string;
  readonly parent: string | undefined;
  readonly isAbstract: boolean;
  readonly code: string | undefined;
}

function literalCode(node: ts.ClassDeclaration): string | undefined {
  for (const member of node.members) {
    if (!ts.isPropertyDeclaration(member) || member.name.getText() !== 'code') continue;
    const isReadonly = member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) === true;
    if (isReadonly && member.initializer !== undefined && ts.isStringLiteral(member.initializer)) return member.initializer.text;
  }
  return undefined;
}

function findClasses(file: string): FoundClass[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.ES2023, true);
  const found: FoundClass[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassDeclaration(node)) {
      const parent = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText();
      const isAbstract = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword) === true;
      found.push({ name: node.name?.text ?? '(no name)', file, parent, isAbstract, code: literalCode(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function errorClasses(all: readonly FoundClass[]): readonly FoundClass[] {
  const names = new Set(['SteplineError']);
  for (let before = 0; before < names.size;) {
    before = names.size;
    for (const { name, parent } of all) if (parent !== undefined && names.has(parent)) names.add(name);
  }
  return all.filter(({ parent }) => parent !== undefined && names.has(parent));
}

const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.(test|test-d|examples)\.ts$/.test(file));
const errors = errorClasses(sources.flatMap(findClasses));
// A remote error has the code that it had in the other process.
const concrete = errors.filter(({ isAbstract, name }) => !isAbstract && name !== 'RemoteError');
const codes = concrete.flatMap(({ code }) => code ?? []).sort();

describe('errors', () => {
  it('are found at all', () => {
    expect(concrete.length).toBeGreaterThan(0);
  });

  it('live in files named *-error.ts, or in the errors.ts of a folder', () => {
    expect(errors.filter(({ file }) => !/(-error|\/errors)\.ts$/.test(file)).map(({ name, file }) => `${name} in ${file}`)).toEqual([]);
  });

  it("each have a literal `readonly code = '…'`", () => {
    expect(concrete.filter(({ code }) => code === undefined).map(({ name, file }) => `${name} in ${file}`)).toEqual([]);
  });

  it('have a kebab-case code of their own', () => {
    expect(codes.filter((code) => !/^[a-z]+(-[a-z0-9]+)*$/.test(code))).toEqual([]);
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  it('are the headings of docs/errors.md, no more and no fewer', () => {
    const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
    const headings = [...page.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading ?? '');
    expect({
      withoutHeading: codes.filter((code) => !headings.includes(code)),
      withoutClass: headings.filter((heading) => !codes.includes(heading)),
      headedTwice: headings.filter((heading, index) => headings.indexOf(heading) !== index),
    }).toEqual({ withoutHeading: [], withoutClass: [], headedTwice: [] });
  });
});
