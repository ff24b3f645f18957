// What the package says about itself: its files, provenance, licences, versions, and how to report a weakness.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';
import { countLicences, findUnknownLicences, listDevelopmentPackages } from '../third-party.mjs';

/** @typedef {import('./project.mjs').Project} Project */

const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
const readPackage = () => JSON.parse(read('package.json'));

const mustShip = [
  ...['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'AGENTS.md', 'llms.txt', 'skills/stepline/SKILL.md', 'envelope.schema.json'],
  ...['docs/getting-started.md', 'docs/versioning.md', 'dist/entry/index.js', 'dist/entry/index.d.ts', 'dist/cli/stepline.js'],
  ...['dist/THIRD-PARTY-LICENSES.txt', 'dist/cli/THIRD-PARTY-LICENSES.txt'],
];
const mayShip = /^(dist\/|docs\/|examples\/|skills\/|[A-Z]+\.md$|LICENSE$|llms\.txt$|package\.json$|envelope\.schema\.json$)/;

/** @type {(project: Project) => readonly string[]} */
export const checkFiles = ({ files }) => [
  ...mustShip.filter((file) => !files.includes(file)).map((file) => `${file} is not in the package.`),
  ...files.filter((file) => !mayShip.test(file) || /\.test\.|node_modules/.test(file)).map((file) => `${file} must not be in the package.`),
];

/** @type {() => readonly string[]} */
export function checkProvenance() {
  const { publishConfig = {}, license, dependencies, engines } = readPackage();
  return [
    ...(publishConfig.provenance === true ? [] : ['publishConfig.provenance is not true.']),
    ...(publishConfig.access === 'public' ? [] : ['publishConfig.access is not public.']),
    ...(license === 'MIT' ? [] : ['The licence is not MIT.']),
    ...(dependencies === undefined ? [] : ['The package has dependencies.']),
    ...(engines?.node === undefined ? ['engines.node is missing.'] : []),
  ];
}

/** Settings that only those who publish can fill in.
 * @type {() => readonly string[]} */
export function listOpenSettings() {
  const { repository } = readPackage();
  return repository === undefined ? ['repository in package.json: provenance is refused without the address of the repository'] : [];
}

/** Folders with a lock file: the repository, and the private packages in it. */
const lockFolders = ['.', 'bench/peers', 'site', 'site/peers', 'tests/browser', 'tests/engines', 'tests/postgres', 'tests/release'];

/** @type {() => readonly string[]} */
export const checkLicences = () =>
  findUnknownLicences(listDevelopmentPackages(lockFolders)).map(({ name, version, license }) => `${name} ${version}: ${license}`);

/** The licences of all packages for development, as lines.
 * @type {() => readonly string[]} */
export const listLicences = () =>
  countLicences(listDevelopmentPackages(lockFolders)).map(([license, count]) => `${String(count).padStart(5)}  ${license}`);

/** @type {() => readonly string[]} */
export function checkPromises() {
  const { version } = readPackage();
  return [
    ...(read('CHANGELOG.md').includes(`## ${version}`) ? [] : [`CHANGELOG.md has no heading for ${version}.`]),
    ...(existsSync(join(root, 'docs/versioning.md')) ? [] : ['docs/versioning.md is missing.']),
    ...(/privately/.test(read('SECURITY.md')) ? [] : ['SECURITY.md does not say how to report privately.']),
  ];
}
