// What others do to sessions on Restate: builds without their agent, and actions that go to the store of the desk directly.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { Agent } from '../../../src/entry/index.ts';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import { createSessionRuntime } from '../../../src/sessions/index.ts';
import type { ServeSessionsOptions } from '../../../src/sessions/restate/index.ts';
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
  readonly version?: string;
  readonly needsApproval?: boolean;
  readonly run: (signal: AbortSignal) => Promise<string>;
}

/** An agent with four calls in one step. */
const createWorking = (id: string, { run, needsApproval = false, version = '1' }: Work): Agent =>
  createAgent({
    id,
    version,
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

type WorkerRules = Pick<ServeSessionsOptions, 'approvals' | 'onVersionChange' | 'maxRecoveries'>;

const listCodes = (problems: readonly unknown[]): readonly unknown[] => problems.map((error) => Reflect.get(Object(error), 'code'));

/** Asks the server for one number. */
async function query(text: string): Promise<number> {
  const response = await fetch(`${server.admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: text }),
  });
  const { rows } = (await response.json()) as { readonly rows: readonly Readonly<Record<string, number>>[] };
  return Object.values(rows[0] ?? {})[0] ?? 0;
}

async function openWorld(prefix: string, agents: readonly Agent[]) {
  const path = join(folder, `${prefix}.db`);
  const list = sqliteStore({ path });
  const [port = 0] = await findPorts(1);
  const problems: unknown[] = [];
  const calls = { count: 0 };
  const start = async (known: readonly Agent[], rules: WorkerRules = {}) => {
    const worker = serveSessions({ ...rules, agents: known, ingress, list, prefix, onProblem: (error) => void problems.push(error) });
    const endpoint = await listen((...call: Parameters<typeof worker.node>) => {
      calls.count += 1;
      worker.node(...call);
    }, port);
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
  return { path, runtime, start, problems, calls, dispose };
}

test('a session that a build cannot read is tried after a second, then less and less often, and continues with a build that can', async () => {
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

test('an action for an agent that no worker has is kept, in order, until a worker has it', async () => {
  const run = async (): Promise<string> => 'Worked.';
  const [one, two] = ['one', 'two'].map((id) => createWorking(id, { run })) as [Agent, Agent];
  const { runtime, start, problems, dispose } = await openWorld('Later', [one, two]);
  const end = await start([one]);
  const { id } = await runtime.create({ agent: 'two' }, { by, until: 'accepted' });
  await runtime.send(id, 'First.', { by, until: 'accepted' });
  await runtime.send(id, 'Second.', { by, until: 'accepted' });
  await expect.poll(() => listCodes(problems), { timeout: 10_000 }).toContain('unknown-agent');
  expect((await runtime.get(id)).mailbox.map(({ type }) => type)).toStrictEqual(['create', 'send', 'send']);
  await end();
  const endOther = await start([one, two]);
  expect((await runtime.send(id, 'Third.', { by })).text).toBe('Done.');
  const said = (await runtime.actions(id)).flatMap((action) => (action.type === 'send' ? [JSON.stringify(action.message)] : []));
  expect(said.map((text) => /First|Second|Third/.exec(text)?.[0])).toStrictEqual(['First', 'Second', 'Third']);
  await expect(runtime.create({ agent: 'nobody' }, { by })).rejects.toMatchObject({ code: 'unknown-agent' });
  await endOther();
  await dispose();
});

test('an approval that expires but cannot be rejected is tried again after a second, then less and less often', async () => {
  const work = { needsApproval: true, run: async () => 'Worked.' };
  const [old, changed] = ['1', '2'].map((version) => createWorking('desk', { ...work, version })) as [Agent, Agent];
  const rules = { approvals: { expireAfterMs: 1500 }, onVersionChange: 'refuse' } as const;
  const { runtime, start, problems, dispose } = await openWorld('Refused', [old]);
  const end = await start([old], rules);
  const { id } = await runtime.create({}, { by });
  expect((await runtime.send(id, 'Go.', { by })).status).toBe('waiting');
  await end();
  const endOther = await start([changed], rules);
  const countRefusals = (): number => listCodes(problems).filter((code) => code === 'agent-changed').length;
  await expect.poll(countRefusals, { timeout: 10_000 }).toBeGreaterThan(0);
  await pause(3500);
  expect(countRefusals()).toBeLessThan(4);
  await endOther();
  const endLast = await start([old], rules);
  await expect.poll(async () => (await runtime.get(id)).status, { timeout: 20_000 }).toBe('completed');
  await endLast();
  await dispose();
});

test('an approval whose rule has changed since waits for as long as the new rule says', async () => {
  const agent = createWorking('desk', { needsApproval: true, run: async () => 'Worked.' });
  const { runtime, start, problems, calls, dispose } = await openWorld('Rules', [agent]);
  const end = await start([agent], { approvals: { expireAfterMs: 1000 } });
  const { id } = await runtime.create({}, { by });
  expect((await runtime.send(id, 'Go.', { by })).status).toBe('waiting');
  await end();
  const endOther = await start([agent]);
  const before = calls.count;
  await pause(2500);
  expect([(await runtime.get(id)).status, problems]).toStrictEqual(['waiting', []]);
  // The sign of life, and one wake-up.
  expect(calls.count - before).toBeLessThan(20);
  await endOther();
  await dispose();
});

test('attempts that fail again and again do not make the journal of a turn longer and longer', { timeout: 60_000 }, async () => {
  let open = (): void => undefined;
  const gate = new Promise<string>((resolve) => (open = () => resolve('Worked.')));
  let runs = 0;
  const run = (): Promise<string> => {
    runs += 1;
    return gate;
  };
  const [old, changed] = ['1', '2'].map((version) => createWorking('desk', { run, version })) as [Agent, Agent];
  const rules = { onVersionChange: 'pin', maxRecoveries: 1000 } as const;
  const { runtime, start, problems, dispose } = await openWorld('Attempts', [old]);
  const end = await start([old], rules);
  const { id } = await runtime.create({}, { by });
  await runtime.send(id, 'Go.', { by, until: 'accepted' });
  await expect.poll(() => runs).toBe(4);
  await end();
  const endOther = await start([changed], rules);
  let longest = 0;
  const countFailures = (): number => listCodes(problems).filter((code) => code === 'agent-changed').length;
  while (countFailures() < 16) {
    const length = await query(
      `SELECT max(j.index) FROM sys_journal j JOIN sys_invocation i ON i.id = j.id WHERE i.target_service_name = 'AttemptsSession'`,
    );
    longest = Math.max(longest, length);
    await pause(200);
  }
  expect(longest).toBeGreaterThan(10);
  expect(longest).toBeLessThan(36);
  await endOther();
  open();
  const endLast = await start([old, changed], rules);
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
