// A worker that is killed while a session waits before its next try, on a real server and in real time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createAgent } from '../../../src/entry/index.ts';
import { restateSessions, serveDesk } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';
import { findPorts, startRestate } from './server.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-backoff-'));
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const by = { id: 'ann', kind: 'user' };
const waitMs = 4000;
const records = join(folder, 'records');
const countLines = (start: string): number =>
  existsSync(records)
    ? readFileSync(records, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(start)).length
    : 0;

const workerFile = fileURLToPath(new URL('backoff-worker.ts', import.meta.url));

async function startWorker(port: number) {
  const args = ['--disable-warning=ExperimentalWarning', workerFile, server.ingress, String(port), folder, String(waitMs)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const gone = once(child, 'close');
  await once(child, 'message');
  return async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
}

test('a session whose worker is killed while it waits for its next try takes it on the next worker, no earlier, and repeats no call', async () => {
  const list = sqliteStore({ path: join(folder, 'list.db') });
  const desk = await listen(serveDesk({ list, prefix: 'Backoff' }).node);
  await server.register(desk.url);
  const [port = 0] = await findPorts(1);
  const kill = await startWorker(port);
  await server.register(`http://127.0.0.1:${port}`);
  const reader = createAgent({ id: 'desk', model: scriptedModel([{ text: '' }]) });
  const runtime = restateSessions({ agents: [reader], ingress: { url: server.ingress }, list, prefix: 'Backoff' });
  const { id } = await runtime.create({}, { by });
  const sent = runtime.send(id, 'Pay.', { by });
  await expect.poll(() => countLines('refused'), { timeout: 20_000 }).toBe(1);
  const refusedAt = performance.now();
  // The failed step is stored: the wait has begun.
  await expect.poll(async () => (await runtime.get(id)).state.stepCount).toBe(2);
  await kill();
  writeFileSync(join(folder, 'up'), '');
  const killNext = await startWorker(port);
  expect((await sent).text).toBe('Paid.');
  expect([countLines('refused'), countLines('pay ')]).toStrictEqual([1, 4]);
  // The provider asked for this wait, and the next worker keeps to it.
  expect(performance.now() - refusedAt).toBeGreaterThan(waitMs - 200);
  await killNext();
  await runtime.drain();
  await desk.close();
  await list.close();
});
