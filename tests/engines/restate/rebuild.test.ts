// A desk whose store was lost.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import type { Mail } from '../../../src/sessions/index.ts';
import { rebuildCopy, restateSessions, serveDesk } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';
import { findPorts, startRestate } from './server.ts';
import { startWorker } from './start-worker.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-rebuild-'));
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const by = { id: 'ann', kind: 'user' };
const ingress = { url: server.ingress };
const work = defineTool({ name: 'work', description: 'Works.', input: { type: 'object', properties: {} } as const, run: () => 'Worked.' });
const calls = [1, 2, 3, 4].map((index) => ({ name: 'work', id: `call-${index}`, args: {} }));
const agent = createAgent({
  id: 'desk',
  model: scriptedModel([{ toolCalls: calls }, { text: 'Done.' }], { repeatLast: true }),
  tools: [work],
});

/** Opens the desk with a store, on the same address each time. */
async function openDesk(file: string, port: number, onPost: (body: string) => unknown = () => undefined) {
  const list = sqliteStore({ path: join(folder, file) });
  const desk = await listen(serveDesk({ list }).node, port);
  await server.register(desk.url);
  const send: typeof fetch = (url, init) => {
    if (typeof init?.body === 'string') onPost(init.body);
    return fetch(url, init);
  };
  const runtime = restateSessions({ agents: [agent], ingress: { ...ingress, fetch: send }, list });
  const close = async (): Promise<void> => {
    await runtime.drain();
    await desk.close();
    await list.close();
  };
  return { list, runtime, close };
}

test('sessions are readable again and continue after the store of the desk was lost', async () => {
  const [port = 0] = await findPorts(1);
  const before = await openDesk('one.db', port);
  const stopWorker = await startWorker(server, { agents: [agent] });
  for (const id of ['a', 'it"s', 'gone']) {
    await before.runtime.create({ id }, { by });
    await before.runtime.send(id, 'Go.', { by });
  }
  await before.runtime.send('a', 'And again.', { by });
  await before.runtime.delete('gone', { by });
  const entries = await before.runtime.get('a');
  const actions = await before.runtime.actions('a');
  await before.close();

  const after = await openDesk('two.db', port);
  await expect(after.runtime.get('a')).rejects.toMatchObject({ code: 'unknown-session' });
  expect(await rebuildCopy({ ingress, admin: { url: server.admin } })).toBe(3);
  await expect.poll(async () => (await after.runtime.list()).sessions.map(({ id }) => id).toSorted()).toStrictEqual(['a', 'it"s']);
  await expect.poll(async () => (await after.runtime.get('a')).lastSeq).toBe(entries.lastSeq);
  expect(JSON.stringify((await after.runtime.get('a')).state)).toBe(JSON.stringify(entries.state));
  expect(await after.runtime.actions('a')).toStrictEqual(actions);
  await expect.poll(() => after.runtime.get('gone').catch((error: unknown) => Reflect.get(Object(error), 'code'))).toBe('session-deleted');
  // Mails are numbered from the start again, and none of them is mistaken for an earlier one.
  for (const text of ['One.', 'Two.', 'Three.']) expect((await after.runtime.send('a', text, { by })).status).toBe('completed');
  expect((await after.runtime.get('a')).executions).toBe(5);
  await after.close();
  await stopWorker();
});

test('a session that is at work when the store is lost sends its copy by itself', async () => {
  const [port = 0] = await findPorts(1);
  let open = (): void => undefined;
  const gate = new Promise<string>((resolve) => (open = () => resolve('Worked.')));
  const slow = createAgent({
    id: 'desk',
    model: scriptedModel([{ toolCalls: calls }, { text: 'Done.' }], { repeatLast: true }),
    tools: [defineTool({ name: 'work', description: 'Works.', input: { type: 'object', properties: {} } as const, run: () => gate })],
  });
  const before = await openDesk('three.db', port);
  const stopWorker = await startWorker(server, { agents: [slow] });
  await before.runtime.create({ id: 'b' }, { by });
  await before.runtime.send('b', 'Go.', { by, until: 'accepted' });
  await expect.poll(async () => (await before.runtime.get('b')).status).toBe('in_progress');
  await before.close();
  const after = await openDesk('four.db', port);
  open();
  await expect
    .poll(
      () =>
        after.runtime.get('b').then(
          ({ text }) => text,
          () => '',
        ),
      { timeout: 20_000 },
    )
    .toBe('Done.');
  await after.close();
  await stopWorker();
});

test('an earlier state of the store is brought up to date, without what was erased since', async () => {
  const [port = 0] = await findPorts(1);
  const first = await openDesk('five.db', port);
  const stopWorker = await startWorker(server, { agents: [agent] });
  await first.runtime.create({ id: 'c' }, { by });
  const { state } = await first.runtime.send('c', 'My secret.', { by });
  await first.close();
  copyFileSync(join(folder, 'five.db'), join(folder, 'backup.db'));
  const second = await openDesk('five.db', port);
  await second.runtime.send('c', 'And again.', { by });
  await second.runtime.eraseMessage('c', [...state.messages].find((message) => message.isUser())?.id ?? '', { by });
  const { lastSeq } = await second.runtime.get('c');
  await second.close();
  const restored = await openDesk('backup.db', port);
  expect(JSON.stringify((await restored.runtime.get('c')).state)).toContain('My secret.');
  await rebuildCopy({ ingress, admin: { url: server.admin } });
  await expect.poll(async () => JSON.stringify((await restored.runtime.get('c')).state)).not.toContain('My secret.');
  expect((await restored.runtime.get('c')).lastSeq).toBe(lastSeq);
  expect((await restored.runtime.send('c', 'Once more.', { by })).status).toBe('completed');
  await restored.close();
  await stopWorker();
});

test('a request that was applied before the store was lost does not take effect again', async () => {
  const [port = 0] = await findPorts(1);
  const posts: string[] = [];
  const before = await openDesk('six.db', port, (body) => posts.push(body));
  const stopWorker = await startWorker(server, { agents: [agent] });
  await before.runtime.create({ id: 'd' }, { by });
  await before.runtime.send('d', 'First.', { by, requestId: 'first' });
  // So much that the session is loaded without its first entries.
  for (let count = 0; count < 8; count += 1) await before.runtime.send('d', 'Long. '.repeat(10_000), { by });
  await before.close();

  const after = await openDesk('seven.db', port);
  const { mails } = JSON.parse(posts.find((post) => post.includes('"first"')) ?? '') as { readonly mails: readonly Mail[] };
  for (const mail of mails) await after.list.post(mail);
  await rebuildCopy({ ingress, admin: { url: server.admin } });
  await expect.poll(async () => (await after.runtime.list()).sessions.map(({ id }) => id), { timeout: 20_000 }).toContain('d');
  await expect.poll(async () => (await after.runtime.get('d')).mailbox, { timeout: 20_000 }).toStrictEqual([]);
  expect((await after.runtime.send('d', 'Last.', { by })).execution).toBe(10);
  await after.close();
  await stopWorker();
});
