// The page as a module that holds its files: a handler serves them without a file system. It is built against the entry points in dist/,
// as a user's page would be.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { root } from './run.mjs';
import { toNotices } from './third-party.mjs';

const folder = join(root, 'page');

/** @typedef {import('../src/page/page-file.ts').PageFile} PageFile */

/** Names a file by its contents.
 * @type {(name: string, body: string, more: Pick<PageFile, 'use' | 'type'>) => PageFile} */
const toFile = (name, body, more) => {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 10);
  return { path: `assets/${name.replace('.', `-${hash}.`)}`, ...more, body };
};

/** Builds the page. Throws if it cannot be made.
 * @type {(dist: string) => Promise<readonly PageFile[]>} */
async function buildPage(dist) {
  // Vite takes it from the environment first: a build inside a test would have React's development code.
  process.env['NODE_ENV'] = 'production';
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
  return [
    toFile('page.js', script.code, { use: 'script', type: 'text/javascript; charset=utf-8' }),
    toFile('page.css', String(style.source), { use: 'style', type: 'text/css; charset=utf-8' }),
    toFile('icon.svg', readFileSync(join(folder, 'icon.svg'), 'utf8'), { use: 'icon', type: 'image/svg+xml' }),
    toFile('licenses.txt', toNotices(Object.keys(script.modules)), { use: 'licenses', type: 'text/plain; charset=utf-8' }),
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
