// Sessions behind AG-UI: the protocol's own client asks for a refund, and a person approves it.
import assert from 'node:assert/strict';
import { HttpAgent } from '@ag-ui/client';
import { createAgent, defineTool } from 'stepline';
import { createAgUiHandler } from 'stepline/ag-ui';
import { createMemoryStore, createSessionRuntime } from 'stepline/sessions';
import { scriptedModel } from 'stepline/testing';

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  needsApproval: true,
  run: ({ euros }) => `${euros} EUR are on their way`,
});
const model = scriptedModel([{ toolCalls: [{ name: 'refund', args: { euros: 20 } }] }, { text: 'You get 20 EUR back.' }]);
const runtime = createSessionRuntime({ agents: [createAgent({ id: 'desk', model, tools: [refund] })], store: createMemoryStore() });

const handle = createAgUiHandler(runtime, {
  authenticate: () => ({ id: 'ann', kind: 'user' }), // your own login
  authorize: () => true,
  newSession: ({ by }) => ({ owner: by.id }),
});

// A page passes the address of your server; here the client gets the handler itself.
const page = new HttpAgent({ url: 'http://localhost/agent', fetch: (url, init) => handle(new Request(url, init)) });
page.addMessage({ id: 'message-1', role: 'user', content: 'I want my money back.' });
await page.runAgent();

const [interrupt] = page.pendingInterrupts;
assert.ok(interrupt?.message);
process.stdout.write(`${interrupt.message}\n`);
await page.runAgent({ resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }] });

const said = page.messages.at(-1)?.content;
assert.equal(said, 'You get 20 EUR back.');
process.stdout.write(`${said}\n`);
await runtime.drain();
