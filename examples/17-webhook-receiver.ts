// A back office that hears of every approval that an agent asks for, over HTTP: signed, and sent again until it is accepted.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createAgent, defineTool } from 'stepline';
import { verifyWebhook, webhook } from 'stepline/http';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';

const secret = 'a random text that only the two sides know';
const seen = new Set<string>();
let refusals = 1; // the receiver is not ready for the first one

const receiver = createServer((request, response) => {
  void (async () => {
    const body = await text(request);
    const { 'stepline-signature': signature, 'stepline-delivery': id } = request.headers;
    const isGenuine = await verifyWebhook({ body, signature: String(signature), secret });
    if (!isGenuine) return response.writeHead(401).end();
    if (refusals-- > 0) return response.writeHead(503).end();
    if (!seen.has(String(id))) process.stdout.write(`${body.slice(body.indexOf('"event"'), body.indexOf('"timestamp"') - 1)}\n`);
    seen.add(String(id)); // the same delivery may come twice
    return response.writeHead(204).end();
  })();
}).listen(0, '127.0.0.1');
await new Promise((resolve) => receiver.once('listening', resolve));
const address = receiver.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}`;

const pay = defineTool({ name: 'pay', description: 'Pays.', input: { type: 'object' } as const, needsApproval: true, run: () => 'paid' });
const agent = createAgent({ id: 'shop', model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }]), tools: { pay } });
const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
// The receiver is on this machine, which a webhook does not call unless it is allowed to.
runtime.deliver('back-office', webhook({ url, secret, allowAnyAddress: true }), { types: ['ToolApprovalRequested'], firstDelayMs: 50 });
await runtime.create({ id: 'order-7' }, { by: { id: 'ann', kind: 'user' } });
await runtime.send('order-7', 'Pay the bill.', { by: { id: 'ann', kind: 'user' } });
while (seen.size === 0) await new Promise((resolve) => setTimeout(resolve, 20));
assert.equal(seen.size, 1);
await runtime.drain();
receiver.close();
