// Builds src/ into dist/: declarations with tsc, one per source; JavaScript with rolldown, bundled; the command line tool as one file;
// page/ with vite, as a module that holds its files.
// With --if-stale, only when the sources differ from those of the last build.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const dist = join(root, 'dist');
const stamp = join(root, '.cache/build-stamp');
const settings = ['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'];
const scripts = ['build.mjs', 'bundle.mjs', 'bundle-cli.mjs', 'bundle-page.mjs', 'third-party.mjs', 'entry-points.mjs', 'floors.cjs'].map(
  (file) => `scripts/${file}`,
);

function fingerprint() {
  const hash = createHash('sha256');
  const sources = globSync(['src/**/*.ts', 'page/**/*.{ts,tsx,css,svg,json}'], { cwd: root }).filter(
    (file) => !/\.(test|test-d|examples)\.tsx?$/.test(file),
  );
  for (const file of [...sources.sort(), ...settings, ...scripts]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

const wanted = fingerprint();
const isFresh = existsSync(dist) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
if (!(isFresh && process.argv.includes('--if-stale'))) {
  // For whoever waits in a terminal; a program that reads the output of npm is not to find it there.
  if (process.stdout.isTTY) console.log('Building, which takes half a minute …');
  rmSync(stamp, { force: true });
  rmSync(dist, { recursive: true, force: true });
  const { ok, output } = await run('tsc', ['-p', 'tsconfig.build.json']);
  if (ok) {
    const { bundleEntryPoints } = await import('./bundle.mjs');
    await bundleEntryPoints(dist);
    const { bundleCli } = await import('./bundle-cli.mjs');
    await bundleCli(dist);
    const { bundlePage } = await import('./bundle-page.mjs');
    await bundlePage(dist);
    mkdirSync(join(root, '.cache'), { recursive: true });
    writeFileSync(stamp, wanted);
  } else {
    console.error(output);
    process.exitCode = 1;
  }
}
