// The page as a module that holds its files: a handler serves them without a file system. It is built against the entry points in dist/,
// as a user's page would be.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { root } from './run.mjs';

const folder = join(root, 'page');

/** @typedef {import('../src/page/page-file.ts').PageFile} PageFile */

/** Returns the folder of the npm package that a module belongs to.
 * @type {(id: string) => string[]} */
const findPackage = (id) => {
  const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id);
  return found === null ? [] : [found[0]];
};

/** Returns the licences of the packages that the page includes: they ask to be kept.
 * @type {(modules: readonly string[]) => string} */
function readLicenses(modules) {
  const packages = [...new Set(modules.flatMap(findPackage))].sort();
  const texts = packages.map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const text = ['LICENSE', 'LICENSE.md'].flatMap((file) => {
      try {
        return [readFileSync(join(path, file), 'utf8').trim()];
      } catch {
        return [];
      }
    })[0];
    if (text === undefined)
      throw new Error(`${name} has no file with its licence. Add its name to readLicenses() in scripts/bundle-page.mjs.`);
    return `${name} ${version} (${license})\n\n${text}`;
  });
  return `This page includes these packages.\n\n${texts.join(`\n\n${'-'.repeat(72)}\n\n`)}\n`;
}

/** @type {(name: string, body: string) => string} */
const toHashedPath = (name, body) => {
  const [stem = '', extension = ''] = name.split('.');
  return `assets/${stem}-${createHash('sha256').update(body).digest('hex').slice(0, 10)}.${extension}`;
};

/** Builds the page. Throws if it cannot be made.
 * @type {(dist: string) => Promise<readonly PageFile[]>} */
async function buildPage(dist) {
  const result = await build({
    configFile: false,
    root: folder,
    logLevel: 'warn',
    mode: 'production',
    resolve: { alias: ['ui', 'react'].map((name) => ({ find: `stepline/${name}`, replacement: join(dist, `entry/${name}.js`) })) },
    build: {
      write: false,
      target: 'es2023',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      rolldownOptions: {
        input: join(folder, 'src/main.tsx'),
        output: { codeSplitting: false },
        // A directive for servers, in a library; the page runs in browsers only.
        onLog: (level, log, report) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : report(level, log)),
      },
    },
  });
  const { output } = /** @type {import('rolldown').RolldownOutput} */ (Array.isArray(result) ? result[0] : result);
  const script = output.find((file) => file.type === 'chunk');
  const style = output.find((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
  if (script?.type !== 'chunk' || style?.type !== 'asset' || output.length !== 2)
    throw new Error(`The page must be one script and one style, not ${output.map(({ fileName }) => fileName).join(', ')}.`);
  /** @type {(name: string, use: PageFile['use'], type: string, body: string) => PageFile} */
  const toFile = (name, use, type, body) => ({ path: toHashedPath(name, body), use, type, body });
  const licenses = toFile('licenses.txt', 'licenses', 'text/plain; charset=utf-8', readLicenses(Object.keys(script.modules)));
  return [
    toFile('page.js', 'script', 'text/javascript; charset=utf-8', script.code),
    toFile('page.css', 'style', 'text/css; charset=utf-8', String(style.source)),
    toFile('icon.svg', 'icon', 'image/svg+xml', readFileSync(join(folder, 'icon.svg'), 'utf8')),
    licenses,
  ];
}

/** Writes the files of the page into a folder with built entry points, as a module.
 * @type {(dist: string) => Promise<void>} */
export async function bundlePage(dist) {
  const files = await buildPage(dist);
  const target = join(dist, 'page/files.js');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `export const pageFiles = ${JSON.stringify(files, null, 1)};\n`);
}
