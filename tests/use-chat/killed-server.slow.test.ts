import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { expect, it, onTestFinished } from 'vitest';
import type { AgentUIMessage } from '../../src/broadcasting/ui-message-stream/index.ts';
import { showLast, until } from './stage.ts';

const file = fileURLToPath(new URL('chat-process.ts', import.meta.url));

/** Starts a server; returns its port. */
async function start(args: readonly string[]): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, port };
}

it('a page resumes its answer after the server was killed and started again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-use-chat-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'sessions.db');
  const { child, port } = await start([path, '0', 'first']);
  const api = `http://127.0.0.1:${port}/api/chat`;
  const page = new Chat<AgentUIMessage>({ id: 'c1', transport: new DefaultChatTransport({ api }) });
  const sent = page.sendMessage({ text: 'Tell me.' });
  await until(() => showLast(page).at(-1) === 'text: The first half');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await sent;
  expect(page.status).toBe('error');
  await start([path, String(port), 'second']);
  await page.resumeStream();
  expect(page.status).toBe('ready');
  expect(showLast(page)).toEqual(['text: Looking.', 'tool-look: output-available', 'text: A whole answer.']);
  expect(page.messages).toHaveLength(2);
}, 30_000);
