// The browser of the tests: one Chromium, unpacked once, started without anything of the system.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/run.mjs';
import { loadChromium, loadPlaywright } from './playwright.ts';

const require = createRequire(import.meta.url);

/** Finds the folder of an installed package. */
const findPackage = (name: string): string => dirname(dirname(require.resolve(name)));

// Holds: a package.json has a version.
const readVersion = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;

/** Unpacks into a folder of its own: the package itself would take any Chromium that it finds in the folder for temporary files. */
async function unpack(): Promise<string> {
  const from = findPackage('@sparticuz/chromium');
  const folder = join(root, '.cache', `chromium-${readVersion(from)}`);
  if (existsSync(folder)) return folder;
  const part = `${folder}.${process.pid}`;
  mkdirSync(part, { recursive: true });
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = part;
  try {
    const { default: chromium, inflate } = await loadChromium();
    await chromium.executablePath();
    // Libraries that a bare system lacks.
    await inflate(join(from, 'bin', 'al2023.tar.br'));
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  try {
    renameSync(part, folder);
  } catch {
    // Another run was faster.
    rmSync(part, { recursive: true, force: true });
  }
  return folder;
}

const args = [
  '--headless=shell',
  // The tests run as root, in containers.
  '--no-sandbox',
  '--no-zygote',
  '--in-process-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--font-render-hinting=none',
  // Nothing but loopback: names of other hosts do not resolve.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--disable-background-networking',
];

/** Starts Chromium; returns the address that tests connect to. */
export async function startChromium(): Promise<{ readonly endpoint: string; readonly close: () => Promise<void> }> {
  const folder = await unpack();
  const playwright = await loadPlaywright();
  const hasFonts = existsSync('/etc/fonts/fonts.conf');
  const server = await playwright.launchServer({
    executablePath: join(folder, 'chromium'),
    args,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      ...(!hasFonts && { FONTCONFIG_PATH: join(folder, 'fonts') }),
    },
  });
  return { endpoint: server.wsEndpoint(), close: () => server.close() };
}
