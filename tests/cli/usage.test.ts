// The tool from its arguments to its exit code, in this process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import type { FakeHostOptions } from './cli-stage.ts';
import { createFakeHost } from './cli-stage.ts';
import type { Demo } from './demo.ts';
import { startDemo } from './demo.ts';

let folder = '';
let path = '';
let demo: Demo;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepline-cli-'));
  path = join(folder, 'desk.db');
  demo = await startDemo(path);
});

afterAll(async () => {
  await demo.worker.drain({ timeoutMs: 0 });
  await demo.store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(args: readonly string[], options: FakeHostOptions = {}): Promise<{ code: number; out: string; err: string }> {
  const { host, printed } = createFakeHost({ cwd: folder, env: { NO_COLOR: '1', STEPLINE_DB: path }, ...options });
  const code = await runCli(args, host);
  return { code, out: printed.out.join(''), err: printed.err.join('') };
}

describe('the exit code', () => {
  test.each([
    [['why', 'order-1001'], 0],
    [['why', 'nobody'], 3],
    [['why'], 2],
    [['sessions', '--status', 'odd'], 2],
    [['sessions', '--limit', '0'], 2],
    [['sessions', '--limit', '5', '--cursor', 'x'], 2],
    [['sessions', '--schema', 'a".b'], 2],
    [['unknown-command'], 2],
    [['grant', 'order-1001'], 2],
    [['answer', 'order-1002', 'call-2', '--value', '{'], 2],
    [['approve', 'order-1002', 'call-2'], 2],
    [['approve', 'order-1002', 'call-2', '--digest', 'f00'], 4],
    [['approve', 'order-1001', 'call-9', '--digest', 'f00'], 4],
    [['delete', 'order-1001'], 2],
    [['release', 'nothing'], 3],
    [['why', 'order-1001', '--db', 'missing.db'], 5],
    [['copy', '--from', 'missing.db', '--to', 'new.db'], 5],
    [['doctor', '--db', 'missing.db'], 1],
  ] as const)('of %j is %d, with an error that programs can read', async (args, expected) => {
    const { code, err } = await run(args);
    expect(code).toBe(expected);
    const machine = await run([...args, '--json']);
    expect(machine.code).toBe(expected);
    if (expected === 0 || args[0] === 'doctor') return;
    expect(err).not.toBe('');
    expect(JSON.parse(machine.err)).toMatchObject({ error: { exitCode: expected } });
    expect(machine.out).toBe('');
  });
});

describe('the store', () => {
  test('is asked for if nothing says which one', async () => {
    const { code, err } = await run(['sessions'], { env: {} });
    expect(code).toBe(2);
    expect(err).toContain('Pass --db <file or postgres URL>, or set STEPLINE_DB.');
  });

  test('of --db counts more than STEPLINE_DB', async () => {
    expect((await run(['sessions', '--db', path], { env: { STEPLINE_DB: 'missing.db' } })).code).toBe(0);
  });
});

describe('colours', () => {
  // eslint-disable-next-line no-control-regex -- the codes of colours
  const codes = /\u001b\[\d+m/;
  test.each([
    ['in a terminal', { columns: 80, env: {} }, true],
    ['in a pipe', { env: {} }, false],
    ['with NO_COLOR', { columns: 80, env: { NO_COLOR: '1' } }, false],
    ['in a dumb terminal', { columns: 80, env: { TERM: 'dumb' } }, false],
  ] as const)('%s', async (_, options, hasColours) => {
    const { out } = await run(['sessions', '--db', path], options);
    expect(codes.test(out)).toBe(hasColours);
  });
});

describe('help', () => {
  test('has an example for every command', async () => {
    const { out } = await run(['--help']);
    const commands = Array.from(out.matchAll(/^ {2}([a-z]+)(?: \[options\])?(?: <[^>]+>)* {2,}/gm), ([, name = '']) => name);
    expect(commands).toContain('why');
    for (const command of commands.filter((name) => name !== 'help')) {
      const help = await run([command, '--help']);
      expect([command, help.code, /^Examples?:$/m.test(help.out)]).toStrictEqual([command, 0, true]);
    }
  });

  test('fits into the terminal', async () => {
    const { out } = await run(['--help'], { columns: 80 });
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});
