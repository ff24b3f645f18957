// npm run pin-exports: writes the names of each entry point, values and types, to tests/exports.json.
// With --check, compares the built entry points with that file instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { pathToFileURL } from 'node:url';
import { entryPoints } from './entry-points.mjs';
import { pinsFile, readExportedNames } from './exported-names.mjs';

const isCheck = process.argv.includes('--check');

/** @type {Record<string, import('./exported-names.mjs').ExportedNames>} */
const names = {};
for (const { name, source, built, declarations } of entryPoints) {
  const { values, types } = readExportedNames(isCheck ? declarations : source);
  names[name] = { values: isCheck ? Object.keys(await import(pathToFileURL(built).href)).sort() : values, types };
}

if (!isCheck) {
  writeFileSync(pinsFile, `${JSON.stringify(names, undefined, 2)}\n`);
} else if (!isDeepStrictEqual(JSON.parse(readFileSync(pinsFile, 'utf8')), names)) {
  console.error(
    `The built entry points differ from tests/exports.json. If this is intended, run npm run pin-exports.\n${JSON.stringify(names, undefined, 2)}`,
  );
  process.exitCode = 1;
}
