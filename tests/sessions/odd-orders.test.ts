// Orders of events that are easy to get wrong.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionWait } from '../../src/sessions/index.ts';
import { createMemoryPlace, createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { ScriptedEntry } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { newProcess } from './stage.ts';

const by = { id: 'ann', kind: 'user' };
const input = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } as const;

function desk(script: readonly ScriptedEntry[]) {
  const paid: string[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input,
    needsApproval: true,
    run: ({ to }, { idempotencyKey }) => (paid.push(`${to} ${idempotencyKey}`), `paid ${to}`),
  });
  return { agent: createAgent({ id: 'desk', model: scriptedModel(script), tools: [pay] }), paid };
}

const call = (id: string, to: string) => ({ id, name: 'pay', args: { to } });
const waitFor = async (runtime: EmbeddedRuntime, id: string): Promise<SessionWait> => {
  const [wait] = (await runtime.get(id)).waitingFor;
  if (wait === undefined) throw new Error('nothing waits');
  return wait;
};

test('a message behind the approval of one of two calls: that one runs, the other is given up, and the message is a new execution', async () => {
  const { agent, paid } = desk([{ toolCalls: [call('a', 'Ann'), call('b', 'Bob')] }, { text: 'Well.' }]);
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const { id } = await runtime.create({ id: 's' }, { by });
  await runtime.send(id, 'Pay both.', { by });
  const wait = await waitFor(runtime, id);
  const [, sent] = await Promise.all([runtime.approve(id, wait, { by }), runtime.send(id, 'Stop, one will do.', { by })]);
  expect(paid).toStrictEqual(['Ann s/1/1/a']);
  expect(sent).toMatchObject({ execution: 2, status: 'completed', text: 'Well.' });
  const { state } = await runtime.get(id);
  expect(state.session.executions.map((execution) => execution.id)).toStrictEqual(['s/1', 's/2']);
});

test('an approval of the same call in an earlier execution approves nothing', async () => {
  const { agent, paid } = desk([{ toolCalls: [call('call_0', 'Ann')] }, { text: 'Paid.' }, { toolCalls: [call('call_0', 'Ann')] }]);
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const { id } = await runtime.create({}, { by });
  await runtime.send(id, 'Pay.', { by });
  const old = await waitFor(runtime, id);
  await runtime.approve(id, old, { by });
  await runtime.send(id, 'Again.', { by });
  expect((await waitFor(runtime, id)).digest).not.toBe(old.digest);
  await expect(runtime.approve(id, old, { by })).rejects.toMatchObject({ code: 'stale-approval' });
  expect(paid).toHaveLength(1);
});

test('an action that is under way when the runtime is drained is either stored and told so, or refused', async () => {
  for (let ticks = 0; ticks < 12; ticks += 1) {
    const { agent } = desk([{ toolCalls: [call('a', 'Ann')] }, { text: 'Paid.' }]);
    const place = createMemoryPlace();
    const runtime = createSessionRuntime({ ...newProcess, agents: [agent], store: place.open(), onProblem: () => undefined });
    const { id } = await runtime.create({}, { by });
    await runtime.send(id, 'Pay.', { by });
    const approving = runtime.approve(id, await waitFor(runtime, id), { by }).then(
      ({ status }) => status,
      (error: unknown) => (error as { readonly code: string }).code,
    );
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    await runtime.drain();
    const head = (await place.open().log.load(id))?.head;
    const told = await Promise.race([approving, new Promise((resolve) => setTimeout(resolve, 500, 'nothing'))]);
    expect(['completed', 'runtime-closed']).toContain(told);
    expect((await place.open().log.load(id))?.head, 'nothing is written behind a drain').toBe(head);
  }
});

test('the same request with other wishes makes no session, and gives none of somebody else', async () => {
  const { agent } = desk([]);
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const made = await runtime.create({ id: 's', tenant: 'a' }, { by, requestId: 'r' });
  expect((await runtime.create({ id: 's', tenant: 'a' }, { by, requestId: 'r' })).id).toBe(made.id);
  const others = [
    [{ id: 's', tenant: 'b' }, by],
    [
      { id: 's', tenant: 'a' },
      { id: 'bob', kind: 'user' },
    ],
  ] as const;
  for (const [wishes, who] of others)
    await expect(runtime.create(wishes, { by: who, requestId: 'r' })).rejects.toMatchObject({ code: 'request-reused' });
});

test('a reader that leaves while it waits is let go', async () => {
  const { agent } = desk([]);
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  const { id } = await runtime.create({}, { by });
  const reader = runtime.events(id, { follow: true })[Symbol.asyncIterator]();
  const waiting = reader.next();
  await new Promise((resolve) => setImmediate(resolve));
  await reader.return?.();
  expect(await waiting).toMatchObject({ done: true });
});

test('a session whose context cannot be had can be cancelled', async () => {
  const { agent } = desk([{ text: 'Hello.' }]);
  const runtime = createSessionRuntime({
    agents: [agent],
    store: createMemoryStore(),
    onProblem: () => undefined,
    context: () => Promise.reject(new Error('no database')),
  });
  const { id } = await runtime.create({}, { by });
  await expect(runtime.send(id, 'Hi.', { by })).rejects.toMatchObject({ code: 'context-failed' });
  expect(await runtime.cancel(id, 'never mind', { by })).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
});

test('a file that is removed under the process is told of, not written to in vain', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-removed-'));
  const path = join(folder, 'sessions.db');
  const { agent } = desk([{ text: 'Hello.' }]);
  const store = sqliteStore({ path });
  const runtime = createSessionRuntime({ ...newProcess, agents: [agent], store, onProblem: () => undefined });
  const { id } = await runtime.create({}, { by });
  rmSync(path);
  await expect(runtime.send(id, 'Hi.', { by })).rejects.toMatchObject({ code: 'store-unavailable' });
  await runtime.drain();
  await store.close();
  expect(existsSync(path)).toBe(false);
  rmSync(folder, { recursive: true });
});
