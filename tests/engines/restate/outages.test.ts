// A desk or a server that is down, in real time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import type { SessionStore } from '../../../src/sessions/index.ts';
import { SessionDamagedError } from '../../../src/sessions/index.ts';
import { restateSessions, serveDesk } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';
import { findPorts, startRestate } from './server.ts';
import { startWorker } from './start-worker.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-outages-'));
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const by = { id: 'ann', kind: 'user' };

/** Returns the number of invocations of turns that have not ended. */
async function countTurns(): Promise<number> {
  const response = await fetch(`${server.admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      query: "SELECT id FROM sys_invocation WHERE target_service_name = 'SteplineSession' AND status != 'completed'",
    }),
  });
  const { rows } = (await response.json()) as { readonly rows: readonly unknown[] };
  return rows.length;
}

/** An agent whose four calls wait for a gate. */
function createGated(id: string) {
  let open = (): void => undefined;
  const gate = new Promise<string>((resolve) => (open = () => resolve('Worked.')));
  const runs = { count: 0 };
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input: { type: 'object', properties: {} } as const,
    effect: 'once',
    run: () => {
      runs.count += 1;
      return gate;
    },
  });
  const calls = [1, 2, 3, 4].map((index) => ({ name: 'work', id: `call-${index}`, args: {} }));
  const model = scriptedModel([{ toolCalls: calls }, { text: 'Done.' }], { repeatLast: true });
  return { id, agent: createAgent({ id, model, tools: [work] }), open: () => open(), runs };
}

test('an action that is sent while the server is down is accepted, and applied once the server is back', async () => {
  const gated = createGated('three');
  gated.open();
  const agents = [gated.agent];
  const list = sqliteStore({ path: join(folder, 'server-down.db') });
  const problems: unknown[] = [];
  const stopWorker = await startWorker(server, { agents, list, prefix: 'ServerDown' });
  const runtime = restateSessions({
    ...{ agents, ingress: { url: server.ingress }, list, prefix: 'ServerDown' },
    onProblem: (error) => void problems.push(error),
  });
  const { id } = await runtime.create({}, { by });
  await server.kill();
  await runtime.send(id, 'Go.', { by, until: 'accepted' });
  expect((await runtime.get(id)).mailbox.map(({ type }) => type)).toStrictEqual(['send']);
  expect(problems).toHaveLength(1);
  await server.start();
  await expect.poll(async () => (await runtime.get(id)).text, { timeout: 30_000 }).toBe('Done.');
  expect(gated.runs.count).toBe(4);
  await runtime.drain();
  await stopWorker();
  await list.close();
});

test('sessions end while the desk is down, and the desk has all of it once it is back', async () => {
  const all = [createGated('one'), createGated('two')];
  const agents = all.map(({ agent }) => agent);
  const list = sqliteStore({ path: join(folder, 'list.db') });
  const [port = 0] = await findPorts(1);
  const openDesk = () => listen(serveDesk({ list }).node, port);
  const desk = await openDesk();
  await server.register(desk.url);
  const stopWorker = await startWorker(server, { agents });
  const runtime = restateSessions({ agents, ingress: { url: server.ingress }, list });
  for (const { id, runs } of all) {
    await runtime.create({ id, agent: id }, { by });
    await runtime.send(id, 'Go.', { by, until: 'accepted' });
    await expect.poll(() => runs.count, { timeout: 10_000 }).toBe(4);
  }
  await desk.close();
  // The report of the first is on its way, and that of the second waits behind it.
  for (const [index, { open }] of all.entries()) {
    open();
    await expect.poll(countTurns, { timeout: 20_000 }).toBe(all.length - index - 1);
  }
  expect((await runtime.get('two')).status).toBe('in_progress');

  const deskAgain = await openDesk();
  for (const { id, runs } of all) {
    await expect.poll(async () => (await runtime.get(id)).text, { timeout: 20_000 }).toBe('Done.');
    const numbers: number[] = [];
    for await (const { seq } of runtime.events(id)) numbers.push(seq);
    expect(numbers).toStrictEqual(numbers.map((_, index) => index + 1));
    expect((await runtime.send(id, 'And now?', { by })).text).toBe('Done.');
    expect(runs.count).toBe(4);
  }
  await runtime.drain();
  await stopWorker();
  await deskAgain.close();
  await list.close();
});

test('a report that was left to the server is tried again until the desk can store it', async () => {
  const list = sqliteStore({ path: join(folder, 'late.db') });
  let failures = 0;
  const faulty: SessionStore = {
    ...list,
    write: async (write) => {
      failures += 1;
      if (failures < 3) throw new SessionDamagedError(write.sessionId, 'not readable for now');
      await list.write(write);
    },
  };
  const desk = await listen(serveDesk({ list: faulty, prefix: 'Late' }).node);
  await server.register(desk.url);
  const header = { id: 'a', agentName: 'desk', tags: [], status: 'completed', isOpen: false, createdAt: 0, updatedAt: 0, details: '{}' };
  const entries = [{ n: 1, at: 0, isSnapshot: false, body: '{}' }];
  const report = { sessionId: 'a', changes: [{ type: 'write', after: 0, header, entries }] };
  const response = await fetch(`${server.ingress}/LateDesk/a/report`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(report),
  });
  expect([response.ok, failures]).toStrictEqual([true, 3]);
  expect((await list.load('a'))?.head).toBe(1);
  await desk.close();
  await list.close();
});
