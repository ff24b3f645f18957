// Sessions behind Express, on a path of their own.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createAgent } from 'stepline';
import { createSessionHandler, toNodeListener } from 'stepline/http';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';

const agent = createAgent({ id: 'desk', model: scriptedModel(['Good morning.']) });
const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });

const app = express();
app.use(express.json()); // other routes may want it; the handler does not mind
app.use(
  '/api',
  toNodeListener(
    createSessionHandler(runtime, {
      basePath: '/api',
      authenticate: () => ({ id: 'ann', kind: 'user' }), // your own login
      authorize: () => true,
      newSession: ({ by }) => ({ owner: by.id }),
    }),
  ),
);
const server = app.listen(0);
await once(server, 'listening');

const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
  const url = `http://localhost:${(server.address() as AddressInfo).port}${path}`;
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return (await response.json()) as Readonly<Record<string, unknown>>;
};
const { session_id } = await post('/api/sessions', {});
const { text } = await post(`/api/sessions/${String(session_id)}/messages`, { text: 'Hello?', until: 'rest' });
assert.equal(text, 'Good morning.');
process.stdout.write(`The desk says: ${text}\n`);
server.close();
await runtime.drain();
