// What others do to sessions on Restate: builds without their agent, and actions that go to the store of the desk directly.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { Agent } from '../../../src/entry/index.ts';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import { createSessionRuntime } from '../../../src/sessions/index.ts';
import { restateSessions, serveSessions } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { listen } from './listen.ts';
import { findPorts, startRestate } from './server.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-others-'));
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const by = { id: 'ann', kind: 'user' };
const ingress = { url: server.ingress };
const place = { type: 'object', properties: { index: { type: 'integer' } }, required: ['index'] } as const;

interface Work {
  readonly needsApproval?: boolean;
  readonly run: (signal: AbortSignal) => Promise<string>;
}

/** An agent with four calls in one step. */
const createWorking = (id: string, { run, needsApproval = false }: Work): Agent =>
  createAgent({
    id,
    model: scriptedModel(
      [{ toolCalls: [1, 2, 3, 4].map((index) => ({ name: 'work', id: `call-${index}`, args: { index } })) }, { text: 'Done.' }],
      { repeatLast: true },
    ),
    tools: [
      defineTool({
        name: 'work',
        description: 'Works.',
        input: place,
        effect: 'once',
        needsApproval: ({ index }) => needsApproval && index === 4,
        run: (_, { signal }) => run(signal),
      }),
    ],
  });

async function openWorld(prefix: string, agents: readonly Agent[]) {
  const path = join(folder, `${prefix}.db`);
  const list = sqliteStore({ path });
  const [port = 0] = await findPorts(1);
  const problems: unknown[] = [];
  const start = async (known: readonly Agent[]) => {
    const worker = serveSessions({ agents: known, ingress, list, prefix, onProblem: (error) => void problems.push(error) });
    const endpoint = await listen(worker.node, port);
    await server.register(endpoint.url);
    await worker.start();
    return async (): Promise<void> => {
      await worker.drain({ timeoutMs: 10 });
      await endpoint.close();
    };
  };
  const runtime = restateSessions({ agents, ingress, list, prefix });
  const dispose = async (): Promise<void> => {
    await runtime.drain();
    await list.close();
  };
  return { path, runtime, start, problems, dispose };
}

test('a session that a build cannot read is tried once a second, and continues with a build that can', async () => {
  let open = (): void => undefined;
  const gate = new Promise<string>((resolve) => (open = () => resolve('Worked.')));
  const [one, two] = ['one', 'two'].map((id) => createWorking(id, { run: () => gate })) as [Agent, Agent];
  const { runtime, start, problems, dispose } = await openWorld('Builds', [one, two]);
  const end = await start([one]);
  const { id } = await runtime.create({ agent: 'one' }, { by });
  await runtime.send(id, 'Go.', { by, until: 'accepted' });
  await end();
  const before = problems.length;
  const endOther = await start([two]);
  await pause(3000);
  const tries = problems.slice(before).filter((error) => Reflect.get(Object(error), 'code') === 'unknown-agent').length;
  expect(tries).toBeGreaterThan(0);
  expect(tries).toBeLessThan(6);
  await endOther();
  open();
  const endLast = await start([one, two]);
  expect((await runtime.send(id, 'And?', { by })).text).toBe('Done.');
  await endLast();
  await dispose();
});

test('an approval that the command line leaves in the store is applied once', async () => {
  let runs = 0;
  const agent = createWorking('desk', { needsApproval: true, run: async () => `${(runs += 1)}` });
  const { path, runtime, start, dispose } = await openWorld('Direct', [agent]);
  const end = await start([agent]);
  const { id } = await runtime.create({}, { by });
  const { waitingFor } = await runtime.send(id, 'Go.', { by });
  const store = sqliteStore({ path });
  const direct = createSessionRuntime({ role: 'client', store, agents: [agent] });
  const [wait] = waitingFor;
  if (wait === undefined) throw new Error('Nothing waits.');
  expect((await direct.approve(id, wait, { by })).text).toBe('Done.');
  expect(runs).toBe(4);
  await direct.drain();
  await store.close();
  await end();
  await dispose();
});
