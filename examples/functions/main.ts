// Drives a session by requests alone: no process is a worker. Runs without a key: node examples/functions/main.ts
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAgent, defineTool } from 'stepline';
import { toNodeListener } from 'stepline/http';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';
import type { Progress } from './drive.ts';
import { createFunction } from './drive.ts';

const input = { type: 'object', properties: {} } as const;
const look = defineTool({
  name: 'look',
  description: 'Looks for a while.',
  input,
  effect: 'pure',
  run: () => pause(80).then(() => 'seen'),
});
const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
const [looks, pays] = [{ toolCalls: [{ name: 'look' }] }, { toolCalls: [{ name: 'pay' }] }];
const agent = createAgent({ id: 'desk', model: scriptedModel([looks, looks, looks, pays, 'All is paid.']), tools: [look, pay] });

// In production: postgresStore({ pool }), and ten seconds instead of a tenth of one.
const store = createMemoryStore();
const runtime = createSessionRuntime({ agents: [agent], store, role: 'client' });
const answer = createFunction({ runtime, store, by: { id: 'ann', kind: 'user' }, untilMs: 100 });
const server = createServer(toNodeListener(answer)).listen(0);
await once(server, 'listening');
const url = `http://localhost:${(server.address() as AddressInfo).port}/sessions/one`;

/** Asks for something, then for the rest, as long as there is any. */
async function ask(what: string, body: object): Promise<Progress> {
  for (let path = what; ; path = 'run') {
    const response = await fetch(`${url}/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const progress = (await response.json()) as Progress;
    process.stdout.write(`${path}: ${progress.status}${progress.againInMs === undefined ? '' : ', and more to do'}\n`);
    if (progress.againInMs === undefined) return progress;
    await pause(progress.againInMs);
  }
}

const asked = await ask('messages', { requestId: 'm1', text: 'Pay the bill.' });
assert.equal(asked.status, 'waiting');
const paid = await ask('approvals', { requestId: 'a1', wait: asked.waitingFor[0] });
process.stdout.write(`${paid.text}\n`);
assert.equal(paid.text, 'All is paid.');
server.close();
await runtime.drain();
