// The executable as it is shipped: one file, run in a process of its own, on a store whose worker runs here.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleCli } from '../../scripts/bundle-cli.mjs';
import { root } from '../../scripts/run.mjs';
import type { Demo } from './demo.ts';
import { startDemo } from './demo.ts';

let folder = '';
let project = '';
let demo: Demo;

interface ProcessResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(...args: readonly string[]): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const executable = join(folder, 'dist/cli/stepline.js');
    const env = { PATH: process.env['PATH'] };
    execFile(process.execPath, [executable, ...args], { cwd: project, env, encoding: 'utf8' }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err });
    });
  });
}

beforeAll(async () => {
  mkdirSync(join(root, '.cache'), { recursive: true });
  folder = mkdtempSync(join(root, '.cache/cli-'));
  await bundleCli(join(folder, 'dist'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', version: '9.9.9' }));
  project = mkdtempSync(join(tmpdir(), 'stepline-cli-'));
  mkdirSync(join(project, '.stepline'));
  demo = await startDemo(join(project, '.stepline/desk.db'));
});

afterAll(async () => {
  await demo.worker.drain({ timeoutMs: 0 });
  await demo.store.close();
  for (const each of [folder, project]) rmSync(each, { recursive: true, force: true });
});

describe('the executable', () => {
  test('is one file with a shebang that may be executed', () => {
    const file = join(folder, 'dist/cli/stepline.js');
    expect(readFileSync(file, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(statSync(file).mode & 0o111).toBe(0o111);
  });

  test('imports nothing but Node at its start, and neither SQLite nor pg until they are needed', () => {
    const code = readFileSync(join(folder, 'dist/cli/stepline.js'), 'utf8');
    const imported = Array.from(code.matchAll(/(?:^|;)import\b[^;]*?from\s*["']([^"']+)["']/gm), ([, name = '']) => name);
    expect(imported.length).toBeGreaterThan(3);
    expect(imported.filter((name) => !name.startsWith('node:') || name === 'node:sqlite')).toStrictEqual([]);
  });

  test('finds the only store of the folder, and explains a session in it', async () => {
    const { code, out, err } = await run('why', 'order-1003');
    expect({ code, err }).toStrictEqual({ code: 0, err: '' });
    expect(out).toBe(`${(await demo.worker.get('order-1003')).explain()}\n`);
  });

  test('prints no colours in a pipe, and no warning of Node', async () => {
    const { out, err } = await run('sessions');
    expect(out).toContain('order-1004');
    expect(out + err).not.toContain('\u001b');
    expect(err).toBe('');
  });

  test('leaves an approval to the worker, and waits for it', async () => {
    const [wait] = (await demo.worker.get('order-1002')).waitingFor;
    const { code, out } = await run('approve', 'order-1002', 'call-2', '--digest', wait?.digest ?? '', '--as', 'kim', '--json');
    expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({ code: 0, state: 'applied', action: 'approve' });
    expect((await demo.worker.actions('order-1002')).at(-1)).toMatchObject({ type: 'approve', by: { id: 'kim', kind: 'staff' } });
    const again = await run('approve', 'order-1002', 'call-2', '--digest', wait?.digest ?? '', '--json');
    expect(again.code).toBe(4);
    expect(JSON.parse(again.err)).toMatchObject({ error: { code: 'late-answer', exitCode: 4 } });
  });

  test('says that the store is in good order, and who runs it', async () => {
    const { code, out } = await run('doctor', '--deep');
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`worker +ok +"desk" \\(process ${process.pid} on .*, alive, runs support; it has 0 sessions`));
  });

  test('writes errors on its error output, as JSON if wanted', async () => {
    const { code, out, err } = await run('why', 'nobody');
    expect({ code, out }).toStrictEqual({ code: 3, out: '' });
    expect(err).toMatch(/^error: There is no session "nobody"/);
    const machine = await run('why', 'nobody', '--json');
    expect(JSON.parse(machine.err)).toMatchObject({ error: { code: 'unknown-session', exitCode: 3 } });
  });

  test('creates no store by accident, and leaves other files alone', async () => {
    writeFileSync(join(project, 'notes.txt'), 'not a database, but long enough to be one'.repeat(10));
    await run('sessions', '--db', 'missing.db');
    const { code, err } = await run('sessions', '--db', 'notes.txt');
    expect(code).toBe(5);
    expect(err).toContain('notes.txt');
    expect(existsSync(join(project, 'missing.db'))).toBe(false);
    expect(readFileSync(join(project, 'notes.txt'), 'utf8')).toMatch(/^not a database/);
  });

  test('says how to get pg if it is missing', async () => {
    const { code, err } = await run('sessions', '--db', 'postgres://user:hunter2@localhost/app');
    expect(code).toBe(5);
    expect(err).toBe('error: Install pg to use a Postgres URL: npm install pg\n');
  });

  test('prints the version of the package', async () => {
    expect((await run('--version')).out).toBe('9.9.9\n');
  });

  test('lists the worker', async () => {
    expect((await run('workers')).out).toMatch(new RegExp(`^desk +alive +0 +\\d+ .* support +process ${process.pid} on `, 'm'));
  });

  test('copies the store beside its worker, says that this one goes on, and the copy says the same', async () => {
    const live = await run('copy', '--from', '.stepline/desk.db', '--to', 'live.db');
    expect(live).toMatchObject({ code: 0, err: 'Workers of the source are at work (1): what they do from now on is not in the copy.\n' });
    const refused = await run('copy', '--from', 'live.db', '--to', '.stepline/desk.db', '--force');
    expect(refused.code).toBe(5);
    expect(refused.err).toContain('"desk"');
    await demo.worker.drain({ timeoutMs: 1000 });
    const { code, out } = await run('copy', '--from', '.stepline/desk.db', '--to', 'copy.db');
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/^Copied and compared: 4 sessions,/) as string });
    const [before, after] = [await run('sessions', '--json'), await run('sessions', '--json', '--db', 'copy.db')];
    expect(after.out).toBe(before.out);
    expect((await run('why', 'order-1004', '--db', 'copy.db', '--trace')).out).toBe((await run('why', 'order-1004', '--trace')).out);
  });
});
