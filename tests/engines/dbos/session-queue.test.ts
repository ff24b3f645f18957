// Sessions that a queue of the real DBOS runs: no process is a worker.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createSessionQueue } from '../../../examples/dbos/session-queue.ts';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import type { EmbeddedRuntime } from '../../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../../src/sessions/index.ts';
import { obedientModel } from '../../sessions/stage.ts';
import { startPostgres } from '../postgres.ts';
import { quietLogger } from './quiet-logger.ts';

const by = { id: 'ann', kind: 'user' } as const;
const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;
const ran: string[] = [];
const define = (name: string, needsApproval: boolean) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input,
    needsApproval,
    run: ({ amount }) => pause(20).then(() => void ran.push(`${name} ${amount}`)),
  });
const agent = createAgent({ id: 'desk', model: obedientModel(), tools: [define('note', false), define('pay', true)] });

const place = createMemoryPlace();
const open = (): EmbeddedRuntime =>
  createSessionRuntime({ agents: [agent], store: place.open(), role: 'client', approvals: { expireAfterMs: 1500 } });
const runtime = open();
// Fails once in a while.
let failures = 0;
const flaky: EmbeddedRuntime = {
  ...runtime,
  runOnce: async (...given) => {
    if ((failures += 1) % 3 === 0) throw new Error('the connection was lost');
    return runtime.runOnce(...given);
  },
};

const server = await startPostgres();
const enqueue = createSessionQueue({ dbos: DBOS, runtime: flaky, untilMs: 10, retryMs: 10 });
DBOS.setConfig({ name: 'sessions', systemDatabaseUrl: server.url, logger: quietLogger });
await DBOS.launch();
await DBOS.registerQueue('sessions', { minPollingIntervalMs: 20 });
afterAll(async () => {
  await DBOS.shutdown();
  await runtime.drain();
  await server.dispose();
});

async function until(id: string, status: string): Promise<void> {
  for await (const event of runtime.events(id, { follow: true })) {
    void event;
    if ((await runtime.get(id)).status === status) return;
  }
}

test('runs what was sent, and what was approved, although no process is a worker', async () => {
  await runtime.create({ id: 'one' }, { by });
  await runtime.send('one', 'note 1; note 2; pay 3; say Hello', { by, requestId: 'm1', until: 'accepted' });
  await enqueue('one', 'm1');
  // Repeated, as by a caller who got no answer.
  await enqueue('one', 'm1');
  await until('one', 'waiting');
  const [wait] = (await runtime.get('one')).waitingFor;
  if (wait === undefined) throw new Error('It waits for nothing.');
  await runtime.approve('one', wait, { by, requestId: 'a1', until: 'accepted' });
  await enqueue('one', 'a1');
  await until('one', 'completed');
  expect([(await runtime.get('one')).text, ran.splice(0)]).toStrictEqual(['Hello', ['note 1', 'note 2', 'pay 3']]);
});

test('rejects an approval that nobody gave in time, by a delayed workflow', async () => {
  await runtime.create({ id: 'two' }, { by });
  await runtime.send('two', 'pay 1; say End', { by, requestId: 'm1', until: 'accepted' });
  await enqueue('two', 'm1');
  await until('two', 'waiting');
  await enqueue('two', 'again');
  await until('two', 'completed');
  expect([(await runtime.get('two')).text, ran.splice(0)]).toStrictEqual(['End', []]);
});

test('gives up on a session that is not there, and not on the queue', async () => {
  await enqueue('three', 'm1');
  await expect(DBOS.retrieveWorkflow('three after m1').getResult()).rejects.toThrow('three');
});
