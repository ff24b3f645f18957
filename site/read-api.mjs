// Reads what the entry points export from the built declarations: kind, comment, and the declaration as code.
// A member that an interface inherits from a type that is not exported is shown as its own.
import prettier from 'prettier';
import ts from 'typescript';

/** @typedef {'function' | 'class' | 'constant' | 'interface' | 'type'} ApiKind */
/** @typedef {{ readonly name: string, readonly kind: ApiKind, readonly doc: string, readonly deprecated: string | undefined, readonly code: string, readonly uses: readonly string[], readonly inherits: readonly string[] }} ApiName */
/** @typedef {import('../scripts/entry-points.mjs').EntryPoint} EntryPoint */
/** @typedef {{ readonly checker: ts.TypeChecker, readonly known: ReadonlySet<string> }} Reading */

/** @type {(declarations: readonly ts.Declaration[]) => ApiKind} */
function toKind(declarations) {
  if (declarations.some(ts.isClassDeclaration)) return 'class';
  if (declarations.some(ts.isFunctionDeclaration)) return 'function';
  if (declarations.some(ts.isVariableDeclaration)) return 'constant';
  return declarations.some(ts.isInterfaceDeclaration) ? 'interface' : 'type';
}

/** Finds the members that an interface or a class inherits, with the name of the type that declares each.
 * @type {(declaration: ts.Declaration, reading: Reading) => readonly { readonly owner: string, readonly member: ts.Declaration }[]} */
function findInherited(declaration, { checker }) {
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return [];
  return checker.getPropertiesOfType(checker.getTypeAtLocation(declaration)).flatMap((property) =>
    (property.declarations ?? []).flatMap((member) => {
      const { parent } = member;
      const isFromType = parent !== declaration && (ts.isInterfaceDeclaration(parent) || ts.isClassDeclaration(parent));
      const isFromLibrary = /(^|\/)typescript\/lib\//.test(parent.getSourceFile().fileName);
      return isFromType && !isFromLibrary && parent.name !== undefined ? [{ owner: parent.name.text, member }] : [];
    }),
  );
}

/** @type {(declaration: ts.Declaration, reading: Reading) => string} */
function printDeclaration(declaration, reading) {
  const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const text = statement
    .getText()
    .replace(/^export (default )?/, '')
    .replace(/^declare /, '')
    .replaceAll(/^\s*(#private|private [^\n]*);\n/gm, '');
  const hidden = findInherited(declaration, reading).filter(({ owner }) => !reading.known.has(owner));
  const members = hidden.map(({ member }) => member.getFullText().replace(/^\n/, ''));
  return members.length === 0 ? text : text.replace(/\}\s*$/, `${members.join('\n')}\n}`);
}

/** Names of the package in a declaration, without its own.
 * @type {(text: string, name: string, known: ReadonlySet<string>) => readonly string[]} */
function findUses(text, name, known) {
  const words = new Set(text.replaceAll(/\/\*.*?\*\//gs, '').match(/\b[A-Z]\w*\b/g) ?? []);
  return [...words].filter((word) => word !== name && known.has(word)).sort();
}

/** Names the exported types that declarations inherit members from.
 * @type {(declarations: readonly ts.Declaration[], reading: Reading) => readonly string[]} */
function findKnownOwners(declarations, reading) {
  const owners = declarations.flatMap((declaration) => findInherited(declaration, reading).map(({ owner }) => owner));
  return [...new Set(owners)].filter((owner) => reading.known.has(owner)).sort();
}

/** Formats a declaration.
 * @type {(text: string) => Promise<string>} */
async function format(text) {
  const formatted = await prettier.format(text, { parser: 'typescript', printWidth: 100, singleQuote: true });
  return formatted.trim();
}

/** @type {(symbol: ts.Symbol, name: string, reading: Reading) => Promise<ApiName>} */
async function describe(symbol, name, reading) {
  const declarations = symbol.declarations ?? [];
  const text = declarations.map((declaration) => printDeclaration(declaration, reading)).join('\n\n');
  const deprecated = symbol.getJsDocTags(reading.checker).find((tag) => tag.name === 'deprecated');
  return {
    name,
    kind: toKind(declarations),
    doc: ts.displayPartsToString(symbol.getDocumentationComment(reading.checker)),
    deprecated: deprecated && ts.displayPartsToString(deprecated.text),
    code: await format(text),
    uses: findUses(text, name, reading.known),
    inherits: findKnownOwners(declarations, reading),
  };
}

/** Reads the names of entry points, by name of the entry point.
 * @type {(entryPoints: readonly EntryPoint[]) => Promise<ReadonlyMap<string, readonly ApiName[]>>} */
export async function readApi(entryPoints) {
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const program = ts.createProgram(
    entryPoints.map(({ declarations }) => declarations),
    options,
  );
  const checker = program.getTypeChecker();
  const exported = entryPoints.map(({ name, declarations }) => {
    const module = checker.getSymbolAtLocation(/** @type {ts.SourceFile} */ (program.getSourceFile(declarations)));
    return { name, symbols: module === undefined ? [] : checker.getExportsOfModule(module) };
  });
  const reading = { checker, known: new Set(exported.flatMap(({ symbols }) => symbols.map(({ name }) => name))) };
  /** @type {Map<string, readonly ApiName[]>} */
  const apis = new Map();
  for (const { name, symbols } of exported) {
    const sorted = [...symbols].sort((one, other) => (one.name < other.name ? -1 : 1));
    const toOriginal = (/** @type {ts.Symbol} */ symbol) =>
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    apis.set(name, await Promise.all(sorted.map((symbol) => describe(toOriginal(symbol), symbol.name, reading))));
  }
  return apis;
}
