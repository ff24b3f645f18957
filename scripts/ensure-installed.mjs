// Makes sure that node_modules matches package-lock.json, and says nothing when it does: in the repository's folder, or in the folders
// that are given. Runs before there is anything to import and on whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const at = (/** @type {string} */ path) => new URL(`../${path}`, import.meta.url);

/** @typedef {{ version?: string, optional?: boolean, link?: boolean }} Entry */
/** @type {(path: string) => Record<string, Entry>} */
const readPackages = (path) => JSON.parse(readFileSync(at(path), 'utf8')).packages;

/** @type {(folder: string) => boolean} */
function isInstalled(folder) {
  if (!existsSync(at(`${folder}/node_modules/.package-lock.json`))) return false;
  // The pinned Node, without which no script runs.
  if (folder === '.' && !existsSync(at('node_modules/.bin/node'))) return false;
  const installed = readPackages(`${folder}/node_modules/.package-lock.json`);
  return Object.entries(readPackages(`${folder}/package-lock.json`)).every(([path, { version, optional, link }]) => {
    const isOurs = !path.startsWith('node_modules/');
    return isOurs || optional === true || (installed[path]?.version === version && installed[path]?.link === link);
  });
}

/** @type {(folder: string) => void} */
function install(folder) {
  console.log(`Installing what ${folder === '.' ? '' : `${folder}/`}package-lock.json lists (npm ci) …`);
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: at(`${folder}/`),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(`${stdout}${stderr}`);
    process.exitCode = 1;
  }
}

const folders = process.argv.length > 2 ? process.argv.slice(2) : ['.'];
for (const folder of folders) if (!isInstalled(folder)) install(folder);
