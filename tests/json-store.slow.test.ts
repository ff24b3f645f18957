// A store of somebody else's: tests/json-store, outside this package, on the package as it is published.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../scripts/run.mjs';

let project = '';

// Without the cache of compiled files: it would keep those of every folder that this test ever made.
const env = { ...process.env, NODE_COMPILE_CACHE: undefined };

/** Runs a command in the project. Fails with all that it printed. */
function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: project, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed (${String(error ?? status)}):\n${stdout}\n${stderr}`);
  return stdout;
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'stepline-json-store-'));
  cpSync(join(root, 'tests/json-store'), project, { recursive: true });
  // Packing builds what is stale.
  const packed = execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, env, encoding: 'utf8' });
  run('npm', 'install', '--offline', '--no-save', '--no-audit', '--no-fund', `./${packed.trim().split('\n').at(-1) ?? ''}`);
  // The types of Node, as a project of its own has them.
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

describe('a session store outside the source tree', () => {
  it('compiles against the packed package, with public names only', () => {
    expect(run(join(root, 'node_modules/.bin/tsc'), '-p', 'tsconfig.packed.json')).toBe('');
  });

  // Most of the time goes into workers that are started, for each case of the runtime one or more.
  it.each(['file-test.ts', 'store-test.ts', 'runtime-test.ts'])(
    'passes %s',
    (file) => {
      expect(run(process.execPath, '--test', '--test-reporter=tap', file)).toMatch(/^# fail 0$/m);
    },
    600_000,
  );
});
