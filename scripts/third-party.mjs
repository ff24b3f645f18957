// Licences: the notices of bundled packages, and what the packages for development have.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** @typedef {{ readonly name: string, readonly version: string, readonly license: string }} Package */

/** Licences that a package for development may have. */
const allowed = new Set([
  ...['MIT', 'MIT-0', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'CC0-1.0', 'CC-BY-4.0', 'MPL-2.0'],
  ...['Python-2.0', 'Unlicense', 'Zlib'],
]);

/** Licences that are allowed for some packages only.
 * @type {readonly (readonly [names: RegExp, license: string])[]} */
const exceptions = [
  // libvips, which Next.js brings for pictures: an optional package of tests/browser, and no part of what is published.
  [/^@img\/sharp-/, 'LGPL-3.0-or-later'],
  // Restate's server, which tests/engines runs and nobody publishes: Business Source License 1.1, which permits that use.
  [/^@restatedev\/restate-server(-|$)/, 'BSL'],
  // Brought by Temporal's bundler, in tests/engines. Its file says Unlicense, its package.json says nothing.
  [/^unionfs$/, 'not named'],
];

/** Finds the folders of the packages that modules belong to.
 * @type {(moduleIds: readonly string[]) => readonly string[]} */
const findPackages = (moduleIds) =>
  [...new Set(moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))].sort();

/** @type {(folder: string) => string} */
function readNotice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} is bundled and has no file with its licence. Bundle another package, or add the text.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
}

/** Writes the licences of the packages that bundled modules come from: they ask to be kept.
 * @type {(moduleIds: readonly string[]) => string} */
export function toNotices(moduleIds) {
  const notices = findPackages(moduleIds).map(readNotice);
  return `This bundle includes these packages.\n\n${notices.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`;
}

/** Lists the packages of lock files, without those that are folders of ours.
 * @type {(folders: readonly string[]) => readonly Package[]} */
export function listDevelopmentPackages(folders) {
  return folders.flatMap((folder) => {
    const file = join(root, folder, 'package-lock.json');
    if (!existsSync(file)) throw new Error(`There is no ${file}.`);
    /** @type {Record<string, { readonly version: string, readonly license?: string, readonly link?: boolean }>} */
    const packages = JSON.parse(readFileSync(file, 'utf8')).packages;
    return Object.entries(packages).flatMap(([path, { version, license = 'not named', link }]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      return path === '' || link === true ? [] : [{ name, version, license }];
    });
  });
}

/** Counts packages by licence, most first.
 * @type {(packages: readonly Package[]) => readonly (readonly [license: string, count: number])[]} */
export function countLicences(packages) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { license } of packages) counts.set(license, (counts.get(license) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

/** True if a package may be used for development. Of several licences to choose from, one is enough; of several that hold together, all count.
 * @type {(each: Package) => boolean} */
function isAllowed({ name, license }) {
  const mayUse = (/** @type {string} */ each) => allowed.has(each) || exceptions.some(([names, one]) => names.test(name) && one === each);
  return license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every(mayUse));
}

/** Finds packages whose licence nobody has agreed to yet.
 * @type {(packages: readonly Package[]) => readonly Package[]} */
export const findUnknownLicences = (packages) => packages.filter((each) => !isAllowed(each));
