import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../scripts/run.mjs';

interface EventClass {
  readonly parent: string | undefined;
  readonly isAbstract: boolean;
  /** By name: the name again, with ` ?` if the field may be absent and ` null` if it may be null. */
  readonly fields: ReadonlyMap<string, string>;
}

type Field = ts.PropertyDeclaration | ts.GetAccessorDeclaration;

const isPublicField = (member: ts.ClassElement): member is Field =>
  (ts.isPropertyDeclaration(member) || ts.isGetAccessorDeclaration(member)) &&
  member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ProtectedKeyword || kind === ts.SyntaxKind.PrivateKeyword) !== true;

const describeField = ({ name, questionToken, type }: Field): string =>
  `${name.getText()}${questionToken === undefined ? '' : ' ?'}${type !== undefined && /\bnull\b/.test(type.getText()) ? ' null' : ''}`;

function readClasses(): ReadonlyMap<string, EventClass> {
  const classes = new Map<string, EventClass>();
  for (const file of globSync('src/**/*.ts', { cwd: root }).filter((name) => !/\.test(-d)?\.ts$/.test(name))) {
    const text = readFileSync(join(root, file), 'utf8');
    if (!/class \w+.* extends|class BaseEvent/.test(text)) continue;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
    for (const node of source.statements) {
      if (!ts.isClassDeclaration(node) || node.name === undefined) continue;
      const parent = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0]?.expression.getText();
      const isAbstract = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword) === true;
      const fields = new Map(node.members.filter(isPublicField).map((member) => [member.name.getText(), describeField(member)]));
      classes.set(node.name.text, { parent, isAbstract, fields });
    }
  }
  return classes;
}

/** Reads the fields that all events have, and those of each event beside them, from the sources. ` ?` marks optional ones, ` null` nullable ones. */
export function readEventFields(): { readonly common: readonly string[]; readonly events: ReadonlyMap<string, readonly string[]> } {
  const classes = readClasses();
  const bases = ['BaseEvent', 'OrchestratorEvent'];
  const common = new Map(bases.flatMap((name) => [...(classes.get(name)?.fields ?? [])]));
  const isEvent = (name: string | undefined): boolean => name !== undefined && (bases.includes(name) || isEvent(classes.get(name)?.parent));
  const collect = (name: string | undefined): readonly (readonly [string, string])[] => {
    const found = name === undefined || bases.includes(name) ? undefined : classes.get(name);
    return found === undefined ? [] : [...collect(found.parent), ...found.fields];
  };
  const own = (name: string): readonly string[] =>
    [...new Map(collect(name))].filter(([field]) => !common.has(field)).map(([, described]) => described);
  const concrete = [...classes].filter(([name, { isAbstract }]) => !isAbstract && isEvent(name));
  return { common: [...common.values()], events: new Map(concrete.map(([name]) => [name, own(name)])) };
}
