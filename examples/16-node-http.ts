// Sessions behind node:http, with a reader that follows the answer as it is written.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgent } from 'stepline';
import { createSessionHandler, toNodeListener } from 'stepline/http';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';

const agent = createAgent({ id: 'desk', model: scriptedModel([{ chunks: ['Good ', 'morning.'] }]) });
const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
const handler = createSessionHandler(runtime, {
  authenticate: () => ({ id: 'ann', kind: 'user' }), // your own login
  authorize: () => true,
  newSession: ({ by }) => ({ owner: by.id }),
});
const server = createServer(toNodeListener(handler)).listen(0);
await once(server, 'listening');

const url = `http://localhost:${(server.address() as AddressInfo).port}/sessions`;
const post = (path: string, body: object): Promise<Response> =>
  fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const { session_id } = (await (await post('', {})).json()) as { session_id: string };
const stream = await fetch(`${url}/${session_id}/events`); // a page uses new EventSource(…)
await post(`/${session_id}/messages`, { text: 'Hello?' });
let text = '';
for await (const bytes of stream.body as ReadableStream<Uint8Array>) {
  text += new TextDecoder().decode(bytes);
  if (text.includes('"status":"completed"')) break;
}
const events = [...text.matchAll(/"event":"([^"]+)"/g)].map(([, event]) => event);
process.stdout.write(`${events.join('\n')}\n`);
assert.ok(events.includes('agent.message'));
server.close();
await runtime.drain();
