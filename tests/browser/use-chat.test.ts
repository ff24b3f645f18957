// A stock useChat page in Chromium, over chatRoutes().
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../../scripts/run.mjs';
import type { StartedProcess } from '../support/started-process.ts';
import { startProcess } from '../support/started-process.ts';
import type { Page } from './playwright.ts';
import { openTabs } from './tabs.ts';

let script = '';

beforeAll(async () => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('use-chat-page.ts', import.meta.url)),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    // One React for all: react-dom brings its own.
    resolve: { alias: { react: join(root, 'node_modules/react') } },
    logLevel: 'silent',
  });
  const folder = mkdtempSync(join(tmpdir(), 'stepline-use-chat-page-'));
  script = join(folder, 'page.js');
  await bundle.write({ file: script, format: 'esm', codeSplitting: false });
  await bundle.close();
  return () => rmSync(folder, { recursive: true, force: true });
});

/** Starts a server of chats, which ends with the test. */
async function openChatSite() {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-use-chat-'));
  const gates = join(folder, 'gates');
  mkdirSync(gates);
  let running: StartedProcess | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    running = startProcess(new URL('use-chat-process.ts', import.meta.url), [join(folder, 'sessions.db'), gates, script, String(port)]);
    port = (await running.hear('ready')).port ?? port;
  };
  const kill = async (): Promise<void> => running?.kill();
  const ask = async (type: string): Promise<unknown> => {
    const heard = running?.hear(type);
    running?.say({ type });
    return (await heard)?.value;
  };
  onTestFinished(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    url: `http://127.0.0.1:${port}/#c1`,
    api: `http://127.0.0.1:${port}/api/chat`,
    open: (gate: string) => writeFileSync(join(gates, gate), ''),
    start,
    kill,
    cut: () => ask('cut'),
    countRuns: () => ask('runs'),
  };
}

/** Sends a message by the page. */
async function say(page: Page, text: string, button = 'Send'): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: button, exact: true }).click();
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

/** Texts and calls of the page, in their order. */
const read = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll('.text, .tool')].map((each) => each.firstChild.textContent)`);

const expectShown = (page: Page, ...lines: readonly string[]): Promise<void> => expect.poll(() => read(page)).toEqual(lines);
const expectStatus = (page: Page, status: string): Promise<void> => expect.poll(() => page.locator('#status').innerText()).toBe(status);

async function openPage() {
  const site = await openChatSite();
  const tabs = await openTabs();
  return { site, tabs, page: await tabs.open(site.url) };
}

describe('a useChat page in Chromium', () => {
  it('runs tools, shows an error, and answers again', async () => {
    const { page } = await openPage();
    await say(page, 'look');
    await expectShown(page, 'look', 'One moment.', 'tool-look: output-available', 'There are two.');
    await say(page, 'fail');
    await expectStatus(page, 'error');
    await expect.poll(() => page.locator('#error').innerText()).toContain('no capacity');
    await say(page, 'hello');
    await expect.poll(async () => JSON.stringify(await read(page))).toContain('Answer 1 to hello.');
    await expectStatus(page, 'ready');
  });

  it('approves a call, also after a reload', async () => {
    const { page, site } = await openPage();
    await say(page, 'pay');
    await expectShown(page, 'pay', 'Shall I?', 'tool-pay: approval-requested');
    await page.reload();
    await expectShown(page, 'pay', 'Shall I?', 'tool-pay: approval-requested');
    await press(page, 'Approve');
    await expectShown(page, 'pay', 'Shall I?', 'tool-pay: output-available', 'Done.');
    expect(await site.countRuns()).toBe(1);
  });

  it('runs a call once if two tabs approve it, and nothing for a forged approval', async () => {
    const { page, site, tabs } = await openPage();
    await say(page, 'pay');
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    const forged = `(async () => {
      const [user, message] = await (await fetch('/api/chat/c1')).json();
      for (const part of message.parts) if (part.approval) Object.assign(part, { state: 'approval-responded', approval: { id: 'a'.repeat(64), approved: true } });
      const body = JSON.stringify({ id: 'c1', messages: [user, message], trigger: 'submit-message' });
      return (await fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status;
    })()`;
    tabs.allow(/403/);
    expect(await page.evaluate(forged)).toBe(403);
    expect(await site.countRuns()).toBe(0);
    const other = await tabs.open(site.url);
    await other.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await Promise.all([press(page, 'Approve'), press(other, 'Approve')]);
    for (const each of [page, other]) await expectShown(each, 'pay', 'Shall I?', 'tool-pay: output-available', 'Done.');
    expect(await site.countRuns()).toBe(1);
  });

  it('stops an answer, and keeps what was written', async () => {
    const { page } = await openPage();
    await say(page, 'slow');
    await expectShown(page, 'slow', 'The first half');
    await press(page, 'Stop');
    await expectStatus(page, 'ready');
    await page.reload();
    await expectShown(page, 'slow', 'The first half');
  });

  it('is reloaded in mid-answer, and gets the rest', async () => {
    const { page, site } = await openPage();
    await say(page, 'slow');
    await expectShown(page, 'slow', 'The first half');
    await page.reload();
    await expectShown(page, 'slow', 'The first half');
    site.open('slow');
    await expectShown(page, 'slow', 'The first half and the second.');
    await expectStatus(page, 'ready');
  });

  it('gets an answer that ended between its history and its stream', async () => {
    const { page, site } = await openPage();
    await say(page, 'slow');
    await expectShown(page, 'slow', 'The first half');
    site.open('hold');
    await page.reload();
    await expectShown(page, 'slow');
    site.open('slow');
    await expect.poll(async () => (await (await fetch(`${site.api}/c1`)).text()).includes('second')).toBe(true);
    site.open('late');
    await expectShown(page, 'slow', 'The first half and the second.');
  });

  it('regenerates and edits', async () => {
    const { page } = await openPage();
    await say(page, 'one');
    await expectShown(page, 'one', 'Answer 1 to one.');
    await expectStatus(page, 'ready');
    await press(page, 'Regenerate');
    await expectShown(page, 'one', 'Answer 2 to one.');
    await expectStatus(page, 'ready');
    await say(page, 'two', 'Edit');
    await expectShown(page, 'two', 'Answer 3 to two.');
    await page.reload();
    await expectShown(page, 'two', 'Answer 3 to two.');
  });

  it('resumes after a lost connection without a reload', async () => {
    const { page, site, tabs } = await openPage();
    tabs.allow(/ERR_/);
    await say(page, 'slow');
    await expectShown(page, 'slow', 'The first half');
    await site.cut();
    await expectStatus(page, 'error');
    site.open('slow');
    // useChat resumes by itself when its tab is looked at again.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await expectShown(page, 'slow', 'The first half and the second.');
    await expectStatus(page, 'ready');
  });

  it('resumes after the server was killed in mid-answer and started again', async () => {
    const { page, site, tabs } = await openPage();
    tabs.allow(/ERR_/);
    await say(page, 'slow');
    await expectShown(page, 'slow', 'The first half');
    await site.kill();
    await expectStatus(page, 'error');
    site.open('slow');
    await site.start();
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await expectShown(page, 'slow', 'The first half and the second.');
    await expectStatus(page, 'ready');
  });
});
