// Builds src/ into dist/: declarations with tsc, one per source; JavaScript with rolldown, bundled; the command line tool as one file.
// With --if-stale, only when the sources differ from those of the last build.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.mjs';

const dist = join(root, 'dist');
const stamp = join(root, '.cache/build-stamp');
const settings = ['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'];
const scripts = ['build.mjs', 'bundle.mjs', 'bundle-cli.mjs', 'third-party.mjs', 'entry-points.mjs', 'floors.cjs'].map(
  (file) => `scripts/${file}`,
);

function fingerprint() {
  const hash = createHash('sha256');
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.(test|test-d|examples)\.ts$/.test(file));
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
  rmSync(stamp, { force: true });
  rmSync(dist, { recursive: true, force: true });
  const { ok, output } = await run('tsc', ['-p', 'tsconfig.build.json']);
  if (ok) {
    const { bundleEntryPoints } = await import('./bundle.mjs');
    await bundleEntryPoints(dist);
    const { bundleCli } = await import('./bundle-cli.mjs');
    await bundleCli(dist);
    mkdirSync(join(root, '.cache'), { recursive: true });
    writeFileSync(stamp, wanted);
  } else {
    console.error(output);
    process.exitCode = 1;
  }
}
