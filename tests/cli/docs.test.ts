// docs/cli.md: its outputs are those of the tool, and it names every command and option.
// UPDATE_DOCS=1 npx vitest run tests/cli/docs.test.ts writes the outputs into the page.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { runCli } from '../../src/cli/run-cli.ts';
import type { CliHost } from '../../src/cli/host.ts';
import { systemClock } from '../../src/lib/index.ts';
import { createFakeHost } from './cli-stage.ts';
import type { Demo } from './demo.ts';
import { startDemo } from './demo.ts';

const page = join(root, 'docs/cli.md');
const text = readFileSync(page, 'utf8');
let folder = '';
let demo: Demo;
let ids = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepline-docs-'));
  demo = await startDemo(join(folder, 'sessions.db'));
});

afterAll(async () => {
  await demo.worker.drain({ timeoutMs: 0 });
  await demo.store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Splits a command as a shell does. */
const split = (command: string): readonly string[] =>
  Array.from(command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, plain]) => double ?? single ?? plain ?? '');

/** Facts that differ from run to run. */
const settle = (output: string): string =>
  output
    .replaceAll(join(folder, 'sessions.db'), 'sessions.db')
    .replaceAll(/\(process \d+ on [^)]+\) since [^,]+,/g, '(process 4711 on host) since 2026-01-01 00:00:00Z (3 min),')
    .replaceAll(/[\d.]+ [kM]B/g, '512.0 kB');

async function run(command: string): Promise<string> {
  const clock = { ...systemClock, now: () => demo.clock.now() };
  const { host, printed } = createFakeHost({ columns: 110, clock, ids: () => `hold-${(ids += 1)}` });
  const written: string[] = [];
  const write = (output: string): unknown => written.push(output);
  const streams: Pick<CliHost, 'stdout' | 'stderr'> = { stdout: { ...host.stdout, write }, stderr: { ...host.stderr, write } };
  // The id of a request is made too; only those of holds are shown.
  const next = command.startsWith('hold ') ? host.ids : () => crypto.randomUUID();
  const code = await runCli([...split(command), '--db', join(folder, 'sessions.db')], { ...host, ...streams, ids: next });
  expect(printed.out).toStrictEqual([]);
  return settle(`$ stepline ${command}\n${written.join('')}${code === 0 ? '' : `exit code ${code}\n`}`);
}

describe('docs/cli.md', () => {
  test('shows what the tool prints', async () => {
    let made = text;
    const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)];
    expect(blocks.length).toBeGreaterThan(8);
    for (const [whole, block = ''] of blocks) {
      let output = '';
      for (const [, command = ''] of block.matchAll(/^\$ stepline (.*)$/gm)) output += await run(command);
      made = made.replace(whole, () => `\`\`\`console\n${output}\`\`\``);
    }
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, made);
    else expect(made).toBe(text);
  });

  test('names every command and every option of it', async () => {
    const help = async (...args: readonly string[]): Promise<string> => {
      const { host, printed } = createFakeHost();
      await runCli([...args, '--help'], host);
      return printed.out.join('');
    };
    const names = Array.from((await help()).matchAll(/^ {2}([a-z]+)(?: \[options\])?(?: <[^>]+>)* {2,}/gm), ([, name = '']) => name);
    expect(names.length).toBeGreaterThan(15);
    const shared = text.slice(0, text.indexOf('## Reading')) + text.slice(text.indexOf('## Acting'), text.indexOf('### approve'));
    for (const name of names.filter((each) => each !== 'help')) {
      const section = new RegExp(`^### ${name}$(.*?)(?=^##|$(?![^]))`, 'ms').exec(text)?.[1] ?? '';
      const options = Array.from((await help(name)).matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm), ([, option = '']) => option);
      const missing = options.filter((option) => !['--help', '--version'].includes(option) && !`${shared}${section}`.includes(option));
      expect([name, section !== '', missing]).toStrictEqual([name, true, []]);
    }
  });
});
