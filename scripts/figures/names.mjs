// Public names with the places that use them, names declared in several files, the sizes of ports, and what adapters import.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { pinsFile } from '../exported-names.mjs';
import { listFiles, readText } from './sources.mjs';

/** @typedef {import('./sources.mjs').Source} Source */

/** Public names by entry point.
 * @type {() => ReadonlyMap<string, ReadonlySet<string>>} */
export function readPublicNames() {
  /** @type {Record<string, import('../exported-names.mjs').ExportedNames>} */
  const pins = JSON.parse(readFileSync(pinsFile, 'utf8'));
  return new Map(Object.entries(pins).map(([entry, { values, types }]) => [entry, new Set([...values, ...types])]));
}

// What users read or copy, and projects that use the package as they would.
const userFiles =
  /^(README\.md|docs\/.*\.md|skills\/.*|examples\/.*\.(ts|tsx|md)|page\/.*\.tsx?|tests\/(release|json-store)\/.*|site\/peers\/.*\.ts|scripts\/release\/.*)$/;

/** The files that use each public name, outside src/.
 * @type {(names: ReadonlySet<string>) => ReadonlyMap<string, readonly string[]>} */
export function findUses(names) {
  /** @type {Map<string, string[]>} */
  const uses = new Map([...names].map((name) => [name, []]));
  for (const path of listFiles()) {
    if (!userFiles.test(path)) continue;
    const text = readText(path) ?? '';
    // Of a page, what stands in a block of code: prose may use the same words.
    const code = path.endsWith('.md') ? (text.match(/^```(ts|tsx)\b[^]*?^```/gm) ?? []).join('\n') : text;
    for (const word of new Set(code.match(/[A-Za-z_$][\w$]*/g))) uses.get(word)?.push(path);
  }
  return uses;
}

/** @type {(statement: ts.Statement) => readonly string[]} */
function listDeclaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

/** Names that two or more files declare at their top level, with these files.
 * @type {(sources: readonly Source[]) => readonly (readonly [string, readonly string[]])[]} */
export function findDoubledNames(sources) {
  /** @type {Map<string, Set<string>>} */
  const files = new Map();
  for (const { path, tree } of sources)
    for (const name of tree.statements.flatMap(listDeclaredNames)) files.set(name, (files.get(name) ?? new Set()).add(path));
  return [...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, [...paths]]);
}

// Interfaces that adapters implement, ours or a stranger's.
const portFolders = ['src/sessions/store/', 'src/effects/', 'src/inference/', 'src/journal/', 'src/events/', 'src/tool-use/driver.ts'];

/** Interfaces of the folders that hold ports, with all their methods, inherited ones included; the largest first.
 * @type {(sources: readonly Source[]) => readonly { readonly name: string, readonly methods: readonly string[] }[]} */
export function measurePorts(sources) {
  /** @type {Map<string, ts.InterfaceDeclaration>} */
  const interfaces = new Map();
  for (const { path, tree } of sources)
    if (portFolders.some((folder) => path.startsWith(folder)))
      for (const statement of tree.statements) if (ts.isInterfaceDeclaration(statement)) interfaces.set(statement.name.text, statement);
  /** @type {(name: string) => readonly string[]} */
  const listMethods = (name) => {
    const declaration = interfaces.get(name);
    if (declaration === undefined) return [];
    const bases = (declaration.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression.getText()));
    const own = declaration.members.flatMap((member) => (ts.isMethodSignature(member) ? [member.name.getText()] : []));
    return [...bases.flatMap(listMethods), ...own];
  };
  return [...interfaces.keys()]
    .map((name) => ({ name, methods: listMethods(name) }))
    .sort((one, other) => other.methods.length - one.methods.length);
}

// Adapters of the ports for models, stores and engines.
const adapterFolders = ['src/inference/ai-sdk', 'src/sessions/sqlite', 'src/sessions/postgres', 'src/journal/dbos', 'src/journal/restate'];

/** The names that adapters import from src/ other than through an entry point, as adapter#name.
 * @type {(sources: readonly Source[]) => readonly string[]} */
export function findDeepImports(sources) {
  /** @type {Set<string>} */
  const found = new Set();
  for (const { path, tree } of sources) {
    const adapter = adapterFolders.find((folder) => path.startsWith(`${folder}/`));
    if (adapter === undefined) continue;
    for (const statement of tree.statements) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
      const target = join(dirname(path), statement.moduleSpecifier.text);
      const isOutside = statement.moduleSpecifier.text.startsWith('.') && !target.startsWith(`${adapter}/`);
      const bindings = statement.importClause?.namedBindings;
      if (!isOutside || target.startsWith('src/entry/') || bindings === undefined || !ts.isNamedImports(bindings)) continue;
      for (const { name, propertyName } of bindings.elements) found.add(`${adapter}#${(propertyName ?? name).text}`);
    }
  }
  return [...found].sort();
}
