// The doors of the package, read from the exports map.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** @typedef {{ readonly name: string, readonly source: string, readonly built: string }} Door */

/** @type {Record<string, string | { readonly default: string }>} */
const exportsMap = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports;

/** @type {readonly Door[]} */
export const doors = Object.entries(exportsMap).flatMap(([name, target]) => {
  if (typeof target === 'string') return [];
  const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
  return [{ name, source: join(root, source), built: join(root, target.default) }];
});

/** Where the names of each door are pinned. */
export const pinsFile = join(root, 'tests/exports.json');
