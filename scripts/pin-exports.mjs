// npm run pin-exports: writes the runtime names of each door to tests/exports.json.
// With --check, compares the built doors with that file instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { pathToFileURL } from 'node:url';
import { doors, pinsFile } from './doors.mjs';

const isCheck = process.argv.includes('--check');

/** @type {Record<string, string[]>} */
const names = {};
for (const { name, source, built } of doors) {
  names[name] = Object.keys(await import(pathToFileURL(isCheck ? built : source).href)).sort();
}

if (!isCheck) {
  writeFileSync(pinsFile, `${JSON.stringify(names, undefined, 2)}\n`);
} else if (!isDeepStrictEqual(JSON.parse(readFileSync(pinsFile, 'utf8')), names)) {
  console.error(
    `The built doors differ from tests/exports.json. If that is meant: npm run pin-exports\n${JSON.stringify(names, undefined, 2)}`,
  );
  process.exitCode = 1;
}
