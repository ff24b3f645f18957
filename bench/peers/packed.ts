// The package as users get it: packed, and unpacked where the cells import it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { contenders } from './rows.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Packs the built package and puts it into node_modules, as `npm install` would: it has no dependencies. */
export function installPacked(): void {
  const [work, place] = [`${here}.work`, `${here}node_modules/stepline`];
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const shell = process.platform === 'win32';
  const printed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], {
    ...{ cwd: root, encoding: 'utf8', shell },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const archive = printed.trim().split('\n').at(-1) ?? '';
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '--strip-components=1', '-C', place], { cwd: work });
  rmSync(work, { recursive: true });
}

function readVersion(name: string): string {
  const { version } = JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`, 'utf8')) as { readonly version: string };
  return version;
}

/** Reads the versions that are compared. */
export function readVersions(): Readonly<Record<string, string>> {
  const names = ['stepline', ...contenders.flatMap((contender) => ('package' in contender ? [contender.package] : []))];
  return Object.fromEntries(names.map((name) => [name, readVersion(name)]));
}

/** Measures the bundle of `createAgent` and `aiSdk`, gzipped, in kilobytes. */
export function measureBundle(): number {
  const program = fileURLToPath(new URL('../../node_modules/size-limit/bin.js', import.meta.url));
  const printed = execFileSync(process.execPath, [program, '--json'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const sizes = JSON.parse(printed) as readonly { readonly name: string; readonly size: number }[];
  const found = sizes.find(({ name }) => name === 'createAgent and aiSdk');
  if (found === undefined) throw new Error('.size-limit.json has no "createAgent and aiSdk".');
  return found.size / 1000;
}
