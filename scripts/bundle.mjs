// The JavaScript of the package: all doors in one go, one file per room behind them. The door of a room holds names only, so a class is
// the same object through whichever door it comes, and a cold import opens a file per room instead of a file per source.
import { isAbsolute, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { doors } from './doors.mjs';
import table from './floors.cjs';
import { root } from './run.mjs';

const sources = join(root, 'src');

// The lowest floor is dealt out first: a room's file would otherwise take in what the room imports.
const rooms = [...table.floors]
  .sort((left, right) => left.floor - right.floor)
  .map(({ room, adapters }, index, { length }) => ({
    name: room,
    priority: length - index,
    test: (/** @type {string} */ id) => {
      const [folder, inner = ''] = relative(sources, id).split(sep);
      return folder === room && !adapters.includes(inner);
    },
  }));

/** @typedef {{ readonly type: string, readonly start: number, readonly static?: boolean }} Node */

// What runs later or for its effect alone, and what types are made of.
const skipped = /Function|^StaticBlock$|^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)/;

/** Where the calls begin that compute a value while the module loads.
 * @type {(value: unknown) => number[]} */
function callsIn(value) {
  if (Array.isArray(value)) return value.flatMap(callsIn);
  if (typeof value !== 'object' || value === null || !('type' in value)) return [];
  const node = /** @type {Node} */ (value);
  if (skipped.test(node.type) || (node.type === 'PropertyDefinition' && node.static !== true)) return [];
  const inside = Object.values(node).flatMap(callsIn);
  return node.type === 'CallExpression' || node.type === 'NewExpression' ? [node.start, ...inside] : inside;
}

/** @type {(code: string) => string} */
function withPureCalls(code) {
  const { body } = parseAst(code, { lang: 'ts' });
  const declared = body.map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement));
  const defining = declared.filter((statement) => statement?.type === 'VariableDeclaration' || statement?.type === 'ClassDeclaration');
  // The calls of a chain, as in `a().b()`, begin at the same place.
  const starts = [...new Set(callsIn(defining))].sort((left, right) => left - right);
  return [0, ...starts].map((start, index) => code.slice(start, starts[index])).join('/* @__PURE__ */ ');
}

// `sideEffects: false` promises that no module does anything but define, and lets the user's bundler drop a file it needs nothing of.
// With a room in one file, the promise has to stand at each call.
const pureCalls = {
  name: 'pure-calls',
  transform: {
    filter: { id: /\.ts$/ },
    // No line is added or broken, so the source maps need no map of this.
    handler: (/** @type {string} */ code) => ({ code: withPureCalls(code), map: null }),
  },
};

/** Writes the JavaScript of every door into a folder. Throws where it cannot be made.
 * @type {(folder: string) => Promise<void>} */
export async function bundleDoors(folder) {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(doors.map(({ source }) => [relative(sources, source).replace(/\.ts$/, ''), source])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    platform: 'neutral',
    tsconfig: join(root, 'tsconfig.build.json'),
    transform: { target: 'es2023' },
    plugins: [pureCalls],
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    chunkFileNames: 'rooms/[name].js',
    codeSplitting: { groups: rooms },
    comments: { jsdoc: false },
    minify: false,
    sourcemap: true,
  });
  await bundle.close();
}
