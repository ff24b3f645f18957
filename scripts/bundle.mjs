// The JavaScript of the package: all entry points in one go, one file per module behind them. An entry point holds names only, so a class
// is the same object through every entry point, and a cold import opens one file per module instead of one per source.
import { writeFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { entryPoints } from './entry-points.mjs';
import table from './floors.cjs';
import { root } from './run.mjs';
import { toNotices } from './third-party.mjs';

const sources = join(root, 'src');

// The lowest floor comes first: the file of a module would otherwise include what the module imports.
const groups = [...table.modules]
  .sort((left, right) => left.floor - right.floor)
  .map(({ name, adapters }, index, { length }) => ({
    name,
    priority: length - index,
    test: (/** @type {string} */ id) => {
      const [folder, inner = ''] = relative(sources, id).split(sep);
      return folder === name && !adapters.includes(inner);
    },
  }));

/** @typedef {{ readonly type: string, readonly start: number, readonly end: number, readonly static?: boolean, readonly callee?: Node }} Node */

// Nodes that run later or only for their effect, and nodes of types.
const skipped = /Function|^StaticBlock$|^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)/;

/** Lists a node and all nodes inside it that compute something while the module loads.
 * @type {(value: unknown) => Node[]} */
function listNodes(value) {
  if (Array.isArray(value)) return value.flatMap(listNodes);
  if (typeof value !== 'object' || value === null || !('type' in value)) return [];
  const node = /** @type {Node} */ (value);
  if (skipped.test(node.type) || (node.type === 'PropertyDefinition' && node.static !== true)) return [];
  return [node, ...Object.values(node).flatMap(listNodes)];
}

const isCall = (/** @type {Node} */ { type }) => type === 'CallExpression' || type === 'NewExpression';

// Bundlers treat these as side effects: an iterator, a getter or a toString() could run.
const isRead = (/** @type {Node} */ { type }) => ['SpreadElement', 'MemberExpression', 'TemplateLiteral'].includes(type);

/** @typedef {{ readonly at: number, readonly text: string }} Insertion */

/** @type {(nodes: readonly Node[]) => Insertion[]} */
const markCalls = (nodes) => nodes.filter(isCall).map(({ start }) => ({ at: start, text: '/* @__PURE__ */ ' }));

/** Marks the calls in the value of a constant. If anything else in it could have an effect, the value becomes a call: only calls can be marked.
 * @type {(declarator: { readonly id: Node, readonly init: Node | null }) => Insertion[]} */
function markConstant({ id, init }) {
  const nodes = listNodes(init);
  const called = new Set(nodes.map(({ callee }) => callee));
  const isCallEnough = !nodes.some((node) => isRead(node) && !called.has(node));
  if (init === null || id.type !== 'Identifier' || isCallEnough) return markCalls(nodes);
  return [
    { at: init.start, text: '/* @__PURE__ */ (() => (' },
    { at: init.end, text: '))()' },
  ];
}

/** @type {(code: string) => string} */
function markPure(code) {
  const { body } = parseAst(code, { lang: 'ts' });
  const declared = body.map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement));
  const insertions = declared.flatMap((statement) => {
    if (statement?.type === 'VariableDeclaration') return statement.declarations.flatMap(markConstant);
    return statement?.type === 'ClassDeclaration' ? markCalls(listNodes(statement)) : [];
  });
  // The calls of a chain, as in `a().b()`, begin at the same place.
  const places = new Map(insertions.map(({ at, text }) => [at, text]));
  const starts = [...places.keys()].sort((left, right) => left - right);
  return [0, ...starts].map((start, index) => (places.get(start) ?? '') + code.slice(start, starts[index])).join('');
}

// `sideEffects: false` promises that no module does anything but define, and lets the user's bundler drop a file it needs nothing of.
// Because each module is one file, that promise has to be repeated at every constant.
const pureCalls = {
  name: 'pure-calls',
  transform: {
    filter: { id: /\.ts$/ },
    // No line is added or broken, so the source maps need no map of this.
    handler: (/** @type {string} */ code) => ({ code: markPure(code), map: null }),
  },
};

// The built page is written beside the bundle: see bundle-page.mjs.
const builtPage = {
  name: 'built-page',
  resolveId: {
    filter: { id: /^\.\/files\.ts$/ },
    handler: (/** @type {string} */ _id, /** @type {string | undefined} */ importer = '') =>
      relative(sources, importer).startsWith(`page${sep}`) ? { id: '../page/files.js', external: true } : null,
  },
};

/** Writes the JavaScript of every entry point into a folder, with the licences of what is in it. Throws if it cannot be made.
 * @type {(folder: string) => Promise<void>} */
export async function bundleEntryPoints(folder) {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entryPoints.map(({ source }) => [relative(sources, source).replace(/\.ts$/, ''), source])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !table.bundledPackages.some((name) => id.startsWith(`${name}/`)),
    platform: 'neutral',
    // A slow machine is not the bundle's fault.
    checks: { pluginTimings: false },
    tsconfig: join(root, 'tsconfig.build.json'),
    transform: { target: 'es2023' },
    plugins: [builtPage, pureCalls],
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    chunkFileNames: 'modules/[name].js',
    codeSplitting: { groups },
    comments: { jsdoc: false },
    minify: false,
    sourcemap: true,
  });
  await bundle.close();
  const moduleIds = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), toNotices(moduleIds));
}
