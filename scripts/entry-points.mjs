// The entry points of the package, read from the exports map.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** @typedef {{ readonly name: string, readonly source: string, readonly built: string, readonly declarations: string }} EntryPoint */

/** @type {Record<string, string | { readonly types: string, readonly default: string }>} */
const exportsMap = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports;

/** @type {readonly EntryPoint[]} */
export const entryPoints = Object.entries(exportsMap).flatMap(([name, target]) => {
  if (typeof target === 'string') return [];
  const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
  return [{ name, source: join(root, source), built: join(root, target.default), declarations: join(root, target.types) }];
});
