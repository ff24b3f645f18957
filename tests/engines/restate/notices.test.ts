// Notices for a worker, on a real server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { serveDesk } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { listen } from './listen.ts';
import { startRestate } from './server.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-notices-'));
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const ask = async (path: string, body: unknown, signal: AbortSignal = new AbortController().signal): Promise<unknown> => {
  const response = await fetch(`${server.ingress}/${path}`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
};

/** Asks the server whether somebody waits for notices. */
async function isWaitedFor(): Promise<boolean> {
  const response = await fetch(`${server.admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: "SELECT key FROM state WHERE service_name = 'SteplineNotices' AND key = 'waiter'" }),
  });
  return (await response.text()).includes('waiter');
}

test('a notice whose answer was lost comes with the next request, and then never again', { timeout: 60_000 }, async () => {
  const list = sqliteStore({ path: join(folder, 'list.db') });
  const desk = await listen(serveDesk({ list }).node);
  await server.register(desk.url);
  const leaving = new AbortController();
  // A worker waits, and is gone when the notice comes.
  const lost = ask('SteplineWorkers/notices', { worker: 'one', received: 0 }, leaving.signal).catch(() => 'lost');
  while (!(await isWaitedFor()));
  leaving.abort();
  expect(await lost).toBe('lost');
  await ask('SteplineNotices/one/add', [{ type: 'holds' }]);
  const next = await ask('SteplineWorkers/notices', { worker: 'one', received: 0 });
  expect(next).toStrictEqual({ notices: [{ type: 'holds' }], upTo: 1 });
  await ask('SteplineNotices/one/add', [{ type: 'holds' }]);
  expect(await ask('SteplineWorkers/notices', { worker: 'one', received: 1 })).toStrictEqual({ notices: [{ type: 'holds' }], upTo: 2 });
  await desk.close();
  await list.close();
});
