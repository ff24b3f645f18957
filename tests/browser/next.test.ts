// chatRoutes() on a real Next.js: `next dev` through ten hot reloads, and `next start`.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { root } from '../../scripts/run.mjs';
import type { Page } from './playwright.ts';
import { openTabs } from './tabs.ts';

const here = import.meta.dirname;
const next = join(here, 'node_modules/next/dist/bin/next');

/** Copies the app beside the packages that it needs; returns how to run Next.js in it. */
function createApp() {
  const app = mkdtempSync(join(here, '.next-app-'));
  cpSync(join(here, 'next-app'), app, { recursive: true });
  const link = join(here, 'node_modules/stepline');
  if (!existsSync(link)) symlinkSync(root, link, 'dir');
  onTestFinished(() => {
    rmSync(app, { recursive: true, force: true });
    rmSync(link, { force: true });
  });
  const gate = join(app, 'gate');
  const env = { ...process.env, CHAT_DB: join(app, 'chats.db'), CHAT_GATE: gate, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: undefined };
  const run = (...args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [next, ...args], { cwd: app, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const closed = once(child, 'close');
    onTestFinished(async () => {
      // `next dev` serves in a process of its own, which outlives it and writes into the folder: the whole group is killed.
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
      await closed;
    });
    return child;
  };
  return { run, open: () => writeFileSync(gate, ''), route: join(app, 'app/api/chat/[[...path]]/route.js') };
}

/** Finds a port that nobody uses. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts a server, and waits until it answers. */
async function serve(
  app: ReturnType<typeof createApp>,
  command: 'dev' | 'start',
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const port = await findPort();
  const child = app.run(command, '-p', String(port), '-H', '127.0.0.1');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const url = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> => (await fetch(`${url}/api/chat/none`).catch(() => undefined))?.ok === true;
  await expect.poll(isUp, { timeout: 60_000, message: output }).toBe(true);
  return { url, child };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

const read = (page: Page): Promise<string[]> => page.locator('p').allInnerTexts();

it('a page on `next dev` gets its answers through ten hot reloads', async () => {
  const app = createApp();
  const { url } = await serve(app, 'dev');
  const page = await (await openTabs()).open(url);
  await say(page, 'slow');
  await expect.poll(() => read(page)).toEqual(['slow', 'The first half']);
  for (let reload = 1; reload <= 10; reload += 1) {
    const code = readFileSync(app.route, 'utf8');
    writeFileSync(app.route, code.replace(/maxDuration = \d+/, `maxDuration = ${60 + reload}`));
    // The changed module answers, and the runtime is the one from before: the answer is still being written.
    await expect.poll(async () => (await fetch(`${url}/api/chat/c1`)).status).toBe(200);
    const response = await fetch(`${url}/api/chat/c1/stream`);
    // Holds: the body of a response is bytes.
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await expect.poll(async () => new TextDecoder().decode((await reader.read()).value)).toContain('The first half');
    await reader.cancel();
  }
  app.open();
  await expect.poll(() => read(page)).toEqual(['slow', 'The first half and the second.']);
  await say(page, 'hello');
  await expect.poll(() => read(page)).toEqual(['slow', 'The first half and the second.', 'hello', 'Answer 1.']);
}, 180_000);

it('a page on `next start` resumes after the server was killed', async () => {
  const app = createApp();
  const build = app.run('build');
  expect(await once(build, 'exit')).toEqual([0, null]);
  const first = await serve(app, 'start');
  const tabs = await openTabs();
  const page = await tabs.open(first.url);
  await say(page, 'slow');
  await expect.poll(() => read(page)).toEqual(['slow', 'The first half']);
  tabs.allow(/ERR_/);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  app.open();
  const second = await serve(app, 'start');
  const again = await tabs.open(second.url);
  await expect.poll(() => read(again)).toEqual(['The first half and the second.']);
}, 180_000);
