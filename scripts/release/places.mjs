// The README's code in places that are not Node: a bundle of Vite, a worker thread, and workerd, the runtime of Cloudflare's workers.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import vm from 'node:vm';
import { build } from 'vite';
import { root, run } from '../run.mjs';
import { readPrograms } from './project.mjs';

/** @typedef {import('./project.mjs').Project} Project */

const tools = join(root, 'tests/release/node_modules');
const [quickStart] = readPrograms('README.md');
if (quickStart?.output === undefined) throw new Error('The first ts block of README.md has no output.');
const { code, output: expected } = quickStart;

/** @type {(place: string, printed: string) => readonly string[]} */
const compare = (place, printed) => (printed.trim() === expected?.trim() ? [] : [`It printed something else in ${place}:\n${printed}`]);

/** Names of the web platform that a bundle may use. */
const web = { AbortController, AbortSignal, crypto, DOMException, performance, queueMicrotask, structuredClone, setTimeout, clearTimeout };

/** Bundles the code for browsers with Vite, and runs it without anything of Node.
 * @type {(project: Project) => Promise<readonly string[]>} */
export async function runInVite({ folder }) {
  writeFileSync(join(folder, 'browser.js'), code);
  const lib = { entry: 'browser.js', formats: /** @type {['es']} */ (['es']), fileName: 'browser' };
  await build({ root: folder, logLevel: 'error', configFile: false, build: { target: 'es2023', outDir: 'vite', lib, minify: true } });
  const bundle = readFileSync(join(folder, 'vite/browser.js'), 'utf8');
  if (/["']node:|\brequire\(/.test(bundle)) return ['The bundle of Vite asks for something of Node.'];
  /** @type {string[]} */
  const lines = [];
  const console = { log: (/** @type {unknown[]} */ ...words) => lines.push(words.join(' ')) };
  // The bundle awaits at its top level.
  await vm.runInNewContext(`(async () => {${bundle}\n})()`, { ...web, TextEncoder, TextDecoder, console });
  return compare('a bundle of Vite', lines.join('\n'));
}

/** Runs the code in a worker thread.
 * @type {(project: Project) => Promise<readonly string[]>} */
export async function runInWorkerThread({ folder }) {
  writeFileSync(join(folder, 'thread.js'), code);
  writeFileSync(join(folder, 'main.js'), `import { Worker } from 'node:worker_threads';\nnew Worker('./thread.js');\n`);
  const { output } = await run(process.execPath, ['main.js'], { cwd: folder, timeoutMs: 60_000 });
  return compare('a worker thread', output);
}

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "worker.js", esModule = embed "worker.js")], compatibilityDate = "2025-01-01"))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** Starts workerd, asks it once, and ends it.
 * @type {(folder: string) => Promise<string>} */
async function askWorkerd(folder) {
  // The program itself: the command of the package is a script that keeps file descriptors to itself.
  const workerd = String(createRequire(join(tools, '../package.json'))('workerd').default);
  const child = spawn(workerd, ['serve', 'workerd.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += String(chunk)));
  try {
    const port = await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', () => reject(new Error(`workerd ended: ${said}`)));
      child.stdio[3]?.on('data', (line) => resolve(/"port":\s*(\d+)/.exec(String(line))?.[1]));
    });
    const response = await fetch(`http://127.0.0.1:${String(port)}/`);
    return await response.text();
  } finally {
    child.kill();
  }
}

/** Bundles the code for no platform at all with esbuild, and runs it in workerd without the compatibility with Node.
 * @type {(project: Project) => Promise<readonly string[]>} */
export async function runInWorkerd({ folder }) {
  const lines = code.split('\n');
  const imports = lines.filter((line) => line.startsWith('import '));
  const body = lines
    .filter((line) => !line.startsWith('import '))
    .join('\n')
    .replaceAll('console.log(', 'print(');
  const handler = `async fetch() { const printed = []; const print = (line) => printed.push(line);\n${body}\nreturn new Response(printed.join('\\n')); }`;
  writeFileSync(join(folder, 'worker-source.js'), `${imports.join('\n')}\nexport default { ${handler} };\n`);
  writeFileSync(join(folder, 'workerd.capnp'), config);
  const bundled = await run(
    join(tools, '.bin/esbuild'),
    ['worker-source.js', '--bundle', '--platform=neutral', '--format=esm', '--target=es2023', '--outfile=worker.js', '--log-level=warning'],
    { cwd: folder },
  );
  if (!bundled.ok || bundled.output !== '') return [`esbuild says:\n${bundled.output}`];
  return compare('workerd', await askWorkerd(folder));
}
