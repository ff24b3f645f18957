// Makes sure that node_modules matches package-lock.json, and says nothing when it does.
// Runs before there is anything to import and on whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const at = (/** @type {string} */ path) => new URL(`../${path}`, import.meta.url);

/** @typedef {{ version?: string, optional?: boolean, link?: boolean }} Entry */
/** @type {(path: string) => Record<string, Entry>} */
const readPackages = (path) => JSON.parse(readFileSync(at(path), 'utf8')).packages;

function isInstalled() {
  if (!existsSync(at('node_modules/.package-lock.json')) || !existsSync(at('node_modules/.bin/node'))) return false;
  const installed = readPackages('node_modules/.package-lock.json');
  return Object.entries(readPackages('package-lock.json')).every(([path, { version, optional, link }]) => {
    const isOurs = !path.startsWith('node_modules/');
    return isOurs || optional === true || (installed[path]?.version === version && installed[path]?.link === link);
  });
}

if (!isInstalled()) {
  console.log('Installing what package-lock.json lists (npm ci) …');
  const { status, stdout, stderr } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: at(''),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(`${stdout}${stderr}`);
    process.exitCode = 1;
  }
}
