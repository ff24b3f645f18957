// The bell of a worker, on a real server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { serveDesk } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { listen } from './listen.ts';
import { startRestate } from './server.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-bell-'));
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

/** Asks the server whether somebody waits at a bell. */
async function isArmed(): Promise<boolean> {
  const response = await fetch(`${server.admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: "SELECT key FROM state WHERE service_name = 'SteplineBell' AND key = 'listener'" }),
  });
  return (await response.text()).includes('listener');
}

test('a call whose answer went nowhere is heard with the next wait, and then never again', { timeout: 60_000 }, async () => {
  const list = sqliteStore({ path: join(folder, 'list.db') });
  const desk = await listen(serveDesk({ list }).node);
  await server.register(desk.url);
  const leaving = new AbortController();
  // Somebody waits, and is gone when the bell rings.
  const lost = ask('SteplinePorter/listen', { worker: 'one', heard: 0 }, leaving.signal).catch(() => 'lost');
  while (!(await isArmed()));
  leaving.abort();
  expect(await lost).toBe('lost');
  await ask('SteplineBell/one/ring', [{ type: 'holds' }]);
  const heard = await ask('SteplinePorter/listen', { worker: 'one', heard: 0 });
  expect(heard).toStrictEqual({ calls: [{ type: 'holds' }], upTo: 1 });
  await ask('SteplineBell/one/ring', [{ type: 'holds' }]);
  expect(await ask('SteplinePorter/listen', { worker: 'one', heard: 1 })).toStrictEqual({ calls: [{ type: 'holds' }], upTo: 2 });
  await desk.close();
  await list.close();
});
