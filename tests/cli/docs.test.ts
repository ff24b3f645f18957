// docs/cli.md: its outputs are those of the tool, and it names every command and option.
// UPDATE_DOCS=1 npx vitest run tests/cli/docs.test.ts writes the outputs into the page.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { runCli } from '../../src/cli/run-cli.ts';
import { createFakeHost } from './cli-stage.ts';
import { renewConsoleBlocks } from './console-blocks.ts';
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

describe('docs/cli.md', () => {
  test('shows what the tool prints', async () => {
    expect([...text.matchAll(/^```console$/gm)].length).toBeGreaterThan(8);
    const path = join(folder, 'sessions.db');
    const whenIdle = (): Promise<unknown> =>
      vi.waitFor(async () => expect((await demo.store.heads.list({ isOpen: true })).sessions).toStrictEqual([]), { timeout: 2000 });
    const options = { path, now: () => demo.clock.now(), columns: 110, ids: () => `hold-${(ids += 1)}`, whenIdle };
    const made = await renewConsoleBlocks(text, options);
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
